"""A real ONNX image encoder of a few bytes: mean colours of a grid of cells, which is the embedding of a picture.

Written as the protobuf wire format of onnx.proto, because the package `onnx` is no dependency.
"""

from pathlib import Path

SIDE = 64
CELL = 16
DIMENSIONS = 3 * (SIDE // CELL) ** 2
_FLOAT = 1
_INTS = 7
_INT = 2


def write_encoder(path: Path, *, output: str = "image_embeds", side: int = SIDE) -> Path:
    """pixel_values (1, 3, side, side) -> AveragePool -> Flatten -> `output`."""
    pooled = _node(
        "AveragePool", "pixel_values", "cells", _ints("kernel_shape", CELL, CELL), _ints("strides", CELL, CELL)
    )
    flat = _node("Flatten", "cells", output, _int("axis", 1))
    graph = b"".join(
        [
            _bytes(1, pooled),
            _bytes(1, flat),
            _bytes(2, b"tiny"),
            _bytes(11, _value("pixel_values", 1, 3, side, side)),
            _bytes(12, _value(output, 1, 3 * (side // CELL) ** 2)),
        ]
    )
    path.write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13)))
    return path


def _node(kind: str, taken: str, given: str, *attributes: bytes) -> bytes:
    named = _bytes(1, taken.encode()) + _bytes(2, given.encode()) + _bytes(4, kind.encode())
    return named + b"".join(_bytes(5, attribute) for attribute in attributes)


def _ints(name: str, *values: int) -> bytes:
    return _bytes(1, name.encode()) + b"".join(_number(8, value) for value in values) + _number(20, _INTS)


def _int(name: str, value: int) -> bytes:
    return _bytes(1, name.encode()) + _number(3, value) + _number(20, _INT)


def _value(name: str, *shape: int) -> bytes:
    sizes = b"".join(_bytes(1, _number(1, size)) for size in shape)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, _FLOAT) + _bytes(2, sizes)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
