"""A real ONNX image encoder of a few bytes: mean colours of a grid of cells, which is the embedding of a picture.

Written as the protobuf wire format of onnx.proto, because the package `onnx` is no dependency.
"""

from pathlib import Path

SIDE = 64
CELL = 16
DIMENSIONS = 3 * (SIDE // CELL) ** 2
_FLOAT_TYPE = 1
_INTS_TYPE = 7
_INT_TYPE = 2


def write_encoder(path: Path, *, output: str = "image_embeds", side: int = SIDE) -> Path:
    """pixel_values (1, 3, side, side) -> AveragePool -> Flatten -> `output`."""
    pooled = _encode_node(
        "AveragePool",
        "pixel_values",
        "cells",
        _encode_ints("kernel_shape", CELL, CELL),
        _encode_ints("strides", CELL, CELL),
    )
    flat = _encode_node("Flatten", "cells", output, _encode_int("axis", 1))
    graph = b"".join(
        [
            _encode_bytes(1, pooled),
            _encode_bytes(1, flat),
            _encode_bytes(2, b"tiny"),
            _encode_bytes(11, _encode_value("pixel_values", 1, 3, side, side)),
            _encode_bytes(12, _encode_value(output, 1, 3 * (side // CELL) ** 2)),
        ]
    )
    path.write_bytes(_encode_number(1, 8) + _encode_bytes(7, graph) + _encode_bytes(8, _encode_number(2, 13)))
    return path


def _encode_node(kind: str, taken: str, given: str, *attributes: bytes) -> bytes:
    named = _encode_bytes(1, taken.encode()) + _encode_bytes(2, given.encode()) + _encode_bytes(4, kind.encode())
    return named + b"".join(_encode_bytes(5, attribute) for attribute in attributes)


def _encode_ints(name: str, *values: int) -> bytes:
    return (
        _encode_bytes(1, name.encode())
        + b"".join(_encode_number(8, value) for value in values)
        + _encode_number(20, _INTS_TYPE)
    )


def _encode_int(name: str, value: int) -> bytes:
    return _encode_bytes(1, name.encode()) + _encode_number(3, value) + _encode_number(20, _INT_TYPE)


def _encode_value(name: str, *shape: int) -> bytes:
    sizes = b"".join(_encode_bytes(1, _encode_number(1, size)) for size in shape)
    return _encode_bytes(1, name.encode()) + _encode_bytes(
        2, _encode_bytes(1, _encode_number(1, _FLOAT_TYPE) + _encode_bytes(2, sizes))
    )


def _encode_number(field: int, value: int) -> bytes:
    return _encode_varint(field << 3) + _encode_varint(value)


def _encode_bytes(field: int, value: bytes) -> bytes:
    return _encode_varint(field << 3 | 2) + _encode_varint(len(value)) + value


def _encode_varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
