# library.rb - Ruby libraries of CBOR and MessagePack: ruby library.rb cbor|msgpack encode|decode turns JSON on standard input into
# bytes, or bytes into JSON.
require 'json'
require ARGV[0]

library = ARGV[0] == 'cbor' ? CBOR : MessagePack
input = $stdin.binmode.read
$stdout.binmode
$stdout.write(ARGV[1] == 'decode' ? JSON.generate(library.unpack(input)) : library.pack(JSON.parse(input)))
