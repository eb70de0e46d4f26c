# Harness.pm - orders the test programs and explains skips, for prove (PERL5LIB=tests prove --harness Harness). The programs of
# tests/alone run one at a time, after all others, which run in parallel. Before the summary, the harness prints the number of
# skipped tests, their reasons, and the packages whose installation would enable them.
package Harness;
use strict;
use warnings;
use parent 'TAP::Harness';

# Returns the programs that must run alone: the first word of every line of tests/alone that is not a comment.
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

# Counts the skipped tests by reason while the programs run.
my %skipped;

sub make_parser {
    my ($self, $job) = @_;
    my ($parser, $session) = $self->SUPER::make_parser($job);
    $parser->callback(test => sub { $skipped{ $_[0]->explanation || 'no reason given' }++ if $_[0]->has_skip });
    return ($parser, $session);
}

# Returns the Debian package that provides a command, Python module or library of this name, by the table of tests/deps.
sub package_of {
    my ($name) = @_;
    open my $table, '<', 'tests/deps' or die "tests/deps: $!\n";
    my @rows = map { /^(?:test|extra|deb|bench)\s+(\S+)\s+(?:command|python|header|library)\s+(\S+)$/ ? [ $1, $2 ] : () } <$table>;
    for my $row (@rows) {
        return $row->[0] if $row->[0] eq $name || $row->[1] =~ m{(?:^|/)\Q$name\E$};
    }
    my @alike = grep { $_->[0] =~ /\Q$name\E/i } @rows;
    return @alike ? $alike[0][0] : undef;
}

# Prints each reason with its number of tests, and one command that installs the missing packages.
sub explain {
    my (%reasons) = @_;
    my %packages;
    for my $reason (sort { $reasons{$b} <=> $reasons{$a} || $a cmp $b } keys %reasons) {
        my $package = $reason =~ /^no (\S+) here$/ ? package_of($1) : undef;
        $packages{$package} = 1 if $package;
        printf "  %4d  %s%s\n", $reasons{$reason}, $reason, $package ? " (package $package)" : '';
    }
    print "To run them: apt-get install --no-install-recommends ", join(' ', sort keys %packages), "\n" if %packages;
}

sub summary {
    my ($self, $aggregate) = @_;
    my @files = grep { $_->skip_all } $aggregate->parsers;
    printf "Skipped: %d tests and %d whole files\n", scalar $aggregate->skipped, scalar @files;
    my %reasons = %skipped;
    $reasons{ $_->skip_all }++ for @files;
    explain(%reasons);
    return $self->SUPER::summary($aggregate);
}

1;
