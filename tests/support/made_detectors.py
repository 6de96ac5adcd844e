"""Small ONNX detectors, written byte by byte: what the tests need of the format, and no package for it.

Fields are those of onnx.proto3 (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3), IR version 8, opset 13.
"""

from __future__ import annotations

import struct

FLOAT = 1
INT64 = 7
SIDE = 64


def _encode_varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def _encode_field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _encode_varint(number << 3) + _encode_varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _encode_varint(number << 3 | 2) + _encode_varint(len(data)) + data


def _encode_tensor(name: str, shape: tuple[int, ...], values: tuple[float, ...], kind: int = FLOAT) -> bytes:
    raw = struct.pack(f"<{len(values)}{'f' if kind == FLOAT else 'q'}", *values)
    return (
        b"".join(_encode_field(1, side) for side in shape)
        + _encode_field(2, kind)
        + _encode_field(8, name)
        + _encode_field(9, raw)
    )


def _encode_node(kind: str, inputs: tuple[str, ...], output: str, **attributes: int) -> bytes:
    made = b"".join(_encode_field(1, name) for name in inputs) + _encode_field(2, output) + _encode_field(4, kind)
    for name, value in attributes.items():
        made += _encode_field(5, _encode_field(1, name) + _encode_field(3, value) + _encode_field(20, 2))
    return made


def _encode_value(name: str, shape: tuple[int, ...]) -> bytes:
    sides = b"".join(_encode_field(1, _encode_field(1, side)) for side in shape)
    return _encode_field(1, name) + _encode_field(
        2, _encode_field(1, _encode_field(1, FLOAT) + _encode_field(2, sides))
    )


def _encode_model(nodes: list[bytes], tensors: list[bytes], output: tuple[int, ...]) -> bytes:
    graph = b"".join(_encode_field(1, node) for node in nodes) + _encode_field(2, "detector")
    graph += b"".join(_encode_field(5, tensor) for tensor in tensors)
    graph += _encode_field(11, _encode_value("images", (1, 3, SIDE, SIDE))) + _encode_field(
        12, _encode_value("output0", output)
    )
    return _encode_field(1, 8) + _encode_field(7, graph) + _encode_field(8, _encode_field(1, "") + _encode_field(2, 13))


def detector(box: tuple[float, float, float, float], class_: int = 0, *, nan_when_white: bool = False) -> bytes:
    """Finds `box` (pixels of its input of 64 x 64) with the brightest value of the picture as its score.

    `nan_when_white`: the score is no number for a picture that has white in it.
    """
    nodes = [
        _encode_node("ReduceMax", ("images",), "max", keepdims=1),
        _encode_node("Reshape", ("max", "shape"), "brightest"),
    ]
    score = "brightest"
    if nan_when_white:
        nodes += [_encode_node("Sub", ("limit", "brightest"), "left"), _encode_node("Sqrt", ("left",), "root")]
        score = "root"
    nodes.append(_encode_node("Concat", ("box", score, "class"), "output0", axis=2))
    tensors = [
        _encode_tensor("shape", (3,), (1, 1, 1), INT64),
        _encode_tensor("box", (1, 1, 4), box),
        _encode_tensor("class", (1, 1, 1), (float(class_),)),
        _encode_tensor("limit", (1, 1, 1), (0.9,)),
    ]
    return _encode_model(nodes, tensors, (1, 1, 6))


def no_detector() -> bytes:
    """A sound model whose output says nothing about boxes."""
    return _encode_model([_encode_node("Identity", ("images",), "output0")], [], (1, 3, SIDE, SIDE))
