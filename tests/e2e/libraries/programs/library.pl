# library.pl - Perl libraries of CBOR and MessagePack: perl library.pl MODULE encode|decode turns JSON on standard input into bytes, or
# bytes into JSON.
use strict;
use warnings;
use JSON::PP ();

sub text {
    my $value = shift;
    return '{' . join(',', map { "\"$_\":" . text($value->{$_}) } sort keys %$value) . '}' if ref $value eq 'HASH';
    return '[' . join(',', map { text($_) } @$value) . ']' if ref $value eq 'ARRAY';
    return ref $value || !defined $value ? 'null' : sprintf '%.17g', $value;
}

my ($module, $mode) = @ARGV;
eval "require $module" or die $@;
binmode STDIN;
binmode STDOUT;
my $input = do { local $/; <STDIN> };
my %decode = ('CBOR::XS' => sub { CBOR::XS::decode_cbor($_[0]) }, 'Data::MessagePack' => sub { Data::MessagePack->unpack($_[0]) });
my %encode = ('CBOR::XS' => sub { CBOR::XS::encode_cbor($_[0]) }, 'Data::MessagePack' => sub { Data::MessagePack->pack($_[0]) });
print $mode eq 'decode' ? text($decode{$module}->($input)) : $encode{$module}->(JSON::PP::decode_json($input));
