"""library.py MODULE encode|typed|decode - Python libraries of CBOR and MessagePack: turns JSON on standard input into bytes, with arrays
of numbers as those of NumPy if typed, or bytes into JSON."""
import importlib
import json
import sys

library, mode = importlib.import_module(sys.argv[1]), sys.argv[2]
if mode == "decode":
    decode = getattr(library, "loads", None) or library.unpackb
    json.dump(decode(sys.stdin.buffer.read()), sys.stdout)
else:
    value = json.load(sys.stdin)
    if mode == "typed":
        import numpy
        value = {name: numpy.array(entry) for name, entry in value.items()}
    encode = getattr(library, "dumps", None) or library.packb
    sys.stdout.buffer.write(encode(value))
