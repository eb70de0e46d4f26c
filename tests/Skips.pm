# prove's harness, with the number of skipped tests in front of its summary (PERL5LIB=tests prove --harness Skips).
package Skips;
use strict;
use warnings;
use parent 'TAP::Harness';

sub summary {
    my ($self, $aggregate) = @_;
    my $files = grep { $_->skip_all } $aggregate->parsers;
    printf "Skipped: %d tests and %d whole files\n", scalar $aggregate->skipped, $files;
    return $self->SUPER::summary($aggregate);
}

1;
