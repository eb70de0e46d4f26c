# torques.pl - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
use strict;
use warnings;
use HTTP::Tiny;
use JSON::PP;

# Perl's text of a number has 15 digits, and so has the output of JSON::PP, JSON::XS and Cpanel::JSON::XS.
sub numbers { '[' . join(',', map { sprintf '%.17g', $_ } @_) . ']' }
my $quarter = atan2(1, 1);
my $q = numbers(0, $quarter, 4 * $quarter, 0, $quarter, 0);
my $one = numbers((1) x 6);
my $reply = HTTP::Tiny->new->post($ARGV[0], {
    headers => {'Content-Type' => 'application/json'}, content => "{\"q\":$q,\"qd\":$one,\"qdd\":$one}"});
die $reply->{content} if $reply->{status} == 599;     # no answer of a server
my $answer = decode_json($reply->{content});
die +($answer->{pointer} // ''), ": $answer->{detail}\n" if !$reply->{success};
print join(',', map { sprintf '%.17g', $_ } @{$answer->{tau}}), "\n";
