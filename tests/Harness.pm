# prove's harness (PERL5LIB=tests prove --harness Harness): the programs of tests/alone run one at a time, after all
# others, which run side by side. The number of skipped tests stands in front of the summary.
package Harness;
use strict;
use warnings;
use parent 'TAP::Harness';

# The programs that must run alone: the first word of every line of tests/alone but comments.
sub alone {
    open my $list, '<', 'tests/alone' or die "tests/alone: $!\n";
    my @names = map { /^([^#\s]\S*)/ ? $1 : () } <$list>;
    -e or die "tests/alone: there is no $_\n" for @names;
    return @names;
}

sub make_scheduler {
    my ($self, @tests) = @_;
    my %alone = map { $_ => 1 } alone();
    my @names = map { ref ? $_->[0] : $_ } @tests;
    $self->rules({ seq => [ { par => [grep { !$alone{$_} } @names] }, { seq => [grep { $alone{$_} } @names] } ] });
    return $self->SUPER::make_scheduler(@tests);
}

sub summary {
    my ($self, $aggregate) = @_;
    my $files = grep { $_->skip_all } $aggregate->parsers;
    printf "Skipped: %d tests and %d whole files\n", scalar $aggregate->skipped, $files;
    return $self->SUPER::summary($aggregate);
}

1;
