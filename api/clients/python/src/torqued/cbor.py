"""Write requests and read answers in CBOR (RFC 8949), arrays of numbers as typed arrays (RFC 8746).

This is the part of CBOR that torqued speaks. The memory of large arrays is sent as it is, and arrays of an answer are
views on its bytes where these are aligned; a general library copies every number or every array at least once.
"""
from __future__ import annotations

import struct
from typing import Any, Iterable, Mapping, Union

import numpy as np

from .arrays import has_names, is_masked, real
from .errors import BadAnswer

Buffer = Union[bytes, bytearray, memoryview]

TAG_SHAPED, TAG_FLOAT32, TAG_FLOAT64 = 40, 85, 86
COPIED = 4096           # bytes: smaller arrays are copied behind the head; one more buffer costs more than the copy
DEEPEST = 64            # nesting of an answer; those of torqued have fewer than 10 levels
TYPES: dict[int, np.dtype[Any]] = {TAG_FLOAT64: np.dtype("<f8"), TAG_FLOAT32: np.dtype("<f4")}
FLOATS = {25: struct.Struct(">e"), 26: struct.Struct(">f"), 27: struct.Struct(">d")}
SIMPLE = {20: False, 21: True, 22: None, 23: None}


def encode(value: Any) -> list[Buffer]:
    """The bytes of `value` in buffers to be sent one after the other. Large arrays are not copied: they must not change
    until they are sent."""
    writer = _Writer()
    writer.write(value)
    return writer.finish()


class _Writer:
    def __init__(self) -> None:
        self.done: list[Buffer] = []
        self.small = bytearray()

    def finish(self) -> list[Buffer]:
        if self.small:
            self.done.append(self.small)
        return self.done

    def head(self, major: int, number: int) -> None:
        if number < 24:
            self.small.append(major << 5 | number)
            return
        for code, size in enumerate((1, 2, 4, 8), 24):
            if number < 1 << 8 * size:
                self.small.append(major << 5 | code)
                self.small += number.to_bytes(size, "big")
                return
        raise OverflowError(f"{number} needs more than 64 bits")

    def write(self, value: Any) -> None:
        if isinstance(value, str):
            text = value.encode()
            self.head(3, len(text))
            self.small += text
        elif isinstance(value, np.ndarray):
            self.array(value)
        elif value is None:
            self.small.append(0xf6)
        elif isinstance(value, (bool, np.bool_)):
            self.small.append(0xf5 if value else 0xf4)
        elif isinstance(value, (int, np.integer)):
            self.head(0, int(value)) if value >= 0 else self.head(1, -1 - int(value))
        elif isinstance(value, (float, np.floating)):
            self.small += b"\xfb" + struct.pack(">d", value)
        elif isinstance(value, Mapping):
            self.head(5, len(value))
            for key, item in value.items():
                self.write(str(key))
                self.write(item)
        elif isinstance(value, (list, tuple)):
            self.sequence(value)
        else:
            self.other(value)

    def sequence(self, value: Union[list[Any], tuple[Any, ...]]) -> None:
        """Numbers in equal rows as a typed array; else one item after the other."""
        if value and not isinstance(value[0], (str, Mapping, bool)):
            _refuse_masked(value)
            try:
                array = np.asarray(value)
            except ValueError:      # rows of different lengths, which the server refuses with their place
                array = np.empty(0, object)
            if array.dtype.kind in "iuf":
                self.array(array)
                return
        self.items(value)

    def items(self, value: Iterable[Any]) -> None:
        listed = list(value)
        self.head(4, len(listed))
        for item in listed:
            self.write(item)

    def other(self, value: Any) -> None:
        """Writes a value that NumPy turns into an array of numbers, such as a table of pandas without names, or any other iterable."""
        if has_names(value):
            raise TypeError("only fields of coordinates take columns by name; give an array, such as table.to_numpy()")
        array = np.asarray(value)
        if array.dtype.kind in "iuf":
            self.array(array)
        elif isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, set, frozenset)):
            self.items(value)
        else:
            raise TypeError(f"a request has numbers, texts, arrays and mappings, not {type(value).__name__}")

    def array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.kind in "bUO" and not is_masked(array):
            self.write(array.tolist())
            return
        array = real(array, "an array of the request")
        if array.ndim == 0:
            self.write(array.item())
            return
        tag = TAG_FLOAT32 if array.dtype.itemsize == 4 and array.dtype.kind == "f" else TAG_FLOAT64
        plain = np.ascontiguousarray(array, TYPES[tag])
        if plain.ndim > 1:
            self.head(6, TAG_SHAPED)
            self.head(4, 2)
            self.head(4, plain.ndim)
            for size in plain.shape:
                self.head(0, size)
        self.head(6, tag)
        self.head(2, plain.nbytes)
        if plain.nbytes <= COPIED:
            self.small += plain.tobytes()
            return
        self.done += [self.small, plain.reshape(-1).data.cast("B")]
        self.small = bytearray()


def _refuse_masked(value: Iterable[Any]) -> None:
    """Refuses masked entries of arrays in nested lists: np.asarray would take the numbers under the mask."""
    for item in value:
        if isinstance(item, np.ma.MaskedArray):
            real(item, "an array of the request")
        elif isinstance(item, (list, tuple)) and item and not isinstance(item[0], (int, float, str)):
            _refuse_masked(item)


def decode(body: Buffer) -> Any:
    """The value in `body`. Arrays are views on `body` where the numbers are aligned in memory, else copies."""
    reader = _Reader(memoryview(body).cast("B"))
    try:
        value = reader.read(0)
    except (IndexError, struct.error, UnicodeDecodeError, ValueError, TypeError) as error:
        raise BadAnswer(f"byte {reader.at} of the answer is no CBOR: {error}") from error
    if reader.at != len(reader.data):
        raise BadAnswer(f"{len(reader.data) - reader.at} bytes follow the answer")
    return value


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> memoryview:
        taken = self.data[self.at:self.at + size]
        if len(taken) != size:
            raise ValueError("it ends too early")
        self.at += size
        return taken

    def head(self) -> tuple[int, int, int]:
        """Major type, additional information and argument."""
        first = self.data[self.at]
        self.at += 1
        major, extra = first >> 5, first & 31
        if extra < 24:
            return major, extra, extra
        if extra > 27:
            raise ValueError("lengths must be definite")
        return major, extra, int.from_bytes(self.take(1 << extra - 24), "big")

    def read(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
        major, extra, number = self.head()
        if major == 0:
            return number
        if major == 1:
            return -1 - number
        if major == 2:
            return bytes(self.take(number))
        if major == 3:
            return str(self.take(number), "utf-8")
        if major == 4:
            return [self.read(depth + 1) for _ in range(number)]
        if major == 5:
            return {self.read(depth + 1): self.read(depth + 1) for _ in range(number)}
        if major == 6:
            return self.tagged(number, depth)
        return self.simple(extra)

    def simple(self, extra: int) -> Any:
        if extra in FLOATS:
            size = FLOATS[extra].size
            return FLOATS[extra].unpack(self.data[self.at - size:self.at])[0]
        if extra in SIMPLE:
            return SIMPLE[extra]
        raise ValueError(f"simple value {extra}")

    def tagged(self, tag: int, depth: int) -> Any:
        if tag in TYPES:
            return self.numbers(TYPES[tag])
        if tag == TAG_SHAPED:
            parts = self.read(depth + 1)
            if not isinstance(parts, list) or len(parts) != 2 or not isinstance(parts[1], np.ndarray):
                raise ValueError("tag 40 needs a shape and a typed array")
            if not all(isinstance(size, int) and size >= 0 for size in parts[0]):
                raise ValueError(f"the shape {parts[0]}")
            return parts[1].reshape(parts[0])
        raise ValueError(f"tag {tag}")

    def numbers(self, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        major, _, size = self.head()
        if major != 2 or size % dtype.itemsize:
            raise ValueError("a typed array needs the bytes of its numbers")
        array = np.frombuffer(self.take(size), dtype)
        return array if array.flags.aligned else array.copy()


def alignment(start: Buffer) -> int:
    """Number of bytes to leave free before a body that begins with `start`, so that its first typed array is aligned."""
    found = bytes(start[:1024]).find(b"\xd8" + bytes([TAG_FLOAT64]))
    if found < 0 or found + 3 > len(start):
        return 0
    head = 1 + {24: 1, 25: 2, 26: 4, 27: 8}.get(start[found + 2] & 31, 0)
    return -(found + 2 + head) % 8
