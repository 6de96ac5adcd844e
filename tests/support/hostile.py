"""Several hundred files that no camera wrote: what an open upload gets sooner or later. Made here, the same every time.

Each says what may happen: `fine` (a photo), `refused` (a PhotoError) or `either`. Nothing may take long, need much
memory, or end in any other way.
"""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import pillow_heif
from PIL import Image, TiffImagePlugin

pillow_heif.register_heif_opener()

Fate = Literal["fine", "refused", "either"]
KINDS = ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "HEIF", "AVIF")
MAGIC = {
    "jpeg": b"\xff\xd8\xff\xe0", "png": b"\x89PNG\r\n\x1a\n", "gif": b"GIF89a", "bmp": b"BM", "tiff-le": b"II*\0",
    "tiff-be": b"MM\0*", "webp": b"RIFF\x10\0\0\0WEBP", "heic": b"\0\0\0\x18ftypheic", "avif": b"\0\0\0\x18ftypavif",
}  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    name: str
    data: bytes
    fate: Fate

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=1)
def corpus() -> tuple[Hostile, ...]:
    groups = (garbage, cut_off, flipped, bombs, modes, turned, several_frames, polyglots, metadata, broken_structure)
    return tuple(Hostile(f"{group.__name__}: {name}", data, fate) for group in groups for name, data, fate in group())


Made = Iterator[tuple[str, bytes, Fate]]


def picture(mode: str = "RGB", size: tuple[int, int] = (64, 48)) -> Image.Image:
    rng = np.random.default_rng(3)
    return Image.fromarray(rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)).convert(mode)


def encode_image(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@lru_cache(maxsize=16)
def plain(kind: str) -> bytes:
    return encode_image(picture(), kind)


def png(
    width: int, height: int, *chunks: tuple[bytes, bytes], depth: int = 8, colour: int = 2, idat: bytes = b""
) -> bytes:
    """A PNG put together by hand, valid or not."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width & 0xFFFFFFFF, height & 0xFFFFFFFF, depth, colour, 0, 0, 0))
    return MAGIC["png"] + head + b"".join(chunk(*c) for c in chunks) + chunk(b"IDAT", idat) + chunk(b"IEND", b"")


def rows(width: int, height: int) -> bytes:
    return zlib.compress((b"\0" + b"\x80" * (3 * width)) * height)


def segment(marker: int, body: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body


def jpeg_with(*segments: bytes) -> bytes:
    raw = plain("JPEG")
    return raw[:2] + b"".join(segments) + raw[2:]


def garbage() -> Made:
    yield "nothing at all", b"", "refused"
    for size in (1, 2, 7, 64, 4096):
        yield f"{size} random bytes", random.Random(size).randbytes(size), "refused"
    texts = {
        "text": b"hello", "html": b"<!doctype html><script>alert(1)</script>",
        "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "pdf": b"%PDF-1.7\n1 0 obj", "zip": b"PK\x03\x04" + bytes(60), "elf": b"\x7fELF" + bytes(60),
        "json": b'{"a": 1}',
        "utf-16": "Köln".encode("utf-16"), "mp4": b"\0\0\0\x20ftypisom" + bytes(40), "zeros": bytes(5000),
        "icon": b"\0\0\1\0\1\0" + bytes(40),
        "postscript": b"%!PS-Adobe-3.0\n/x 1 def", "photoshop": b"8BPS\0\1" + bytes(40),
        "jpeg 2000": b"\0\0\0\x0cjP  \r\n\x87\n",
        "netpbm": b"P6 9 9 255 " + bytes(243), "targa": bytes((0, 0, 2)) + bytes(15), "fits": b"SIMPLE  =  T",
        "windows metafile": b"\xd7\xcd\xc6\x9a" + bytes(60), "flash": b"FWS\x05" + bytes(40),
    }  # fmt: skip
    for name, data in texts.items():
        yield name, data, "refused"
    for name, data in MAGIC.items():
        yield f"only the first bytes of {name}", data, "refused"
        yield f"first bytes of {name}, then noise", data + random.Random(name).randbytes(300), "refused"


def cut_off() -> Made:
    for kind in KINDS:
        whole = plain(kind)
        for percent in (1, 3, 10, 25, 50, 75, 90, 97, 99):
            yield f"{kind} after {percent} %", whole[: len(whole) * percent // 100], "either"
        yield f"{kind} without its last byte", whole[:-1], "either"


def flipped() -> Made:
    for kind in KINDS:
        for seed in range(6):
            rng, data = random.Random(f"{kind}{seed}"), bytearray(plain(kind))
            for _ in range(1 + 3 * seed):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            yield f"{kind} with flipped bits {seed}", bytes(data), "either"


def bombs() -> Made:
    yield "PNG of 600 million pixels", encode_image(Image.new("1", (30_000, 20_000)), "PNG"), "refused"
    yield "PNG just above the limit", encode_image(Image.new("1", (8001, 8000)), "PNG"), "refused"
    yield "PNG one pixel high and very long", encode_image(Image.new("1", (40_000, 8)), "PNG"), "refused"
    for width, height in ((2**31 - 1, 2**31 - 1), (2**32 - 1, 1), (2**16, 2**16), (10**6, 10), (0, 10), (10, 0)):
        yield f"PNG that claims {width}x{height}", png(width, height, idat=rows(8, 8)), "refused"
    yield "PNG that has less than it claims", png(4000, 4000, idat=rows(8, 8)), "refused"
    yield "PNG that has more than it claims", png(16, 16, idat=rows(16, 20_000)), "either"
    heavy = zlib.compress(bytes(200 * 2**20), 9)
    yield (
        "PNG with a text that unpacks to 200 MB",
        png(16, 16, (b"zTXt", b"a\0\0" + heavy), idat=rows(16, 16)),
        "either",
    )
    yield (
        "PNG with a profile that unpacks to 200 MB",
        png(16, 16, (b"iCCP", b"a\0\0" + heavy), idat=rows(16, 16)),
        "either",
    )
    yield "PNG whose pixels unpack to 200 MB", png(16, 16, idat=heavy), "either"
    yield (
        "WebP of 268 million pixels",
        encode_image(Image.new("RGB", (64, 64)), "WEBP", lossless=True).replace(
            b"\x2f\x3f\xc0\x0f\x00", b"\x2f\xff\xff\xff\x0f"
        ),
        "refused",
    )
    gif = bytearray(plain("GIF"))
    gif[6:10] = b"\xff\xff\xff\xff"
    yield "GIF that claims 65535x65535", bytes(gif), "refused"
    jpeg = bytearray(plain("JPEG"))
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 5 : at + 9] = b"\xff\xff\xff\xff"
    yield "JPEG that claims 65535x65535", bytes(jpeg), "refused"
    for claim in ((2**31 - 1, 2**31 - 1), (100_000, 100_000), (-64, -48), (64, -48)):
        bmp = bytearray(plain("BMP"))
        bmp[18:26] = struct.pack("<ii", *claim)
        yield f"BMP that claims {claim}", bytes(bmp), "either" if claim == (64, -48) else "refused"
    for side in (100_000, 2**31):
        tiff = tiff_with({256: side, 257: side})
        yield f"TIFF that claims {side}x{side}", tiff, "refused"
    big = Image.new("L", (7900, 7900))
    yield "TIFF of 62 million pixels in a few kB", encode_image(big, "TIFF", compression="tiff_adobe_deflate"), "fine"
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"
    yield "JPEG with 5000 scans", plain("JPEG")[:-2] + scan * 5000 + b"\xff\xd9", "refused"


def tiff_with(tags: dict[int, int], compression: int = 1) -> bytes:
    """A little-endian TIFF whose tags have the given values."""
    base = {256: 8, 257: 8, 258: 8, 259: compression, 262: 1, 273: 8, 277: 1, 278: 8, 279: 64} | tags
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value & 0xFFFFFFFF) for tag, value in sorted(base.items()))
    return b"II*\0" + struct.pack("<I", 72) + bytes(64) + struct.pack("<H", len(base)) + entries + bytes(4)


def modes() -> Made:
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA"):
        yield f"PNG {mode}", encode_image(picture(mode), "PNG"), "fine"
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "LAB", "F", "I", "YCbCr"):
        source = picture("L").convert(mode) if mode in ("F", "I") else picture(mode)
        yield f"TIFF {mode}", encode_image(source, "TIFF"), "fine"
    for mode in ("L", "RGB", "CMYK"):
        yield f"JPEG {mode}", encode_image(picture(mode), "JPEG"), "fine"
    yield "progressive JPEG", encode_image(picture(), "JPEG", progressive=True), "fine"
    for mode in ("RGB", "RGBA"):
        yield f"WebP {mode} lossless", encode_image(picture(mode), "WEBP", lossless=True), "fine"
        yield f"HEIF {mode}", encode_image(picture(mode), "HEIF"), "fine"
        yield f"AVIF {mode}", encode_image(picture(mode), "AVIF"), "fine"
    grey16 = Image.fromarray(np.linspace(0, 65535, 64 * 48).astype(np.uint16).reshape(48, 64))
    yield "PNG of 16 bits", encode_image(grey16, "PNG"), "fine"
    yield "TIFF of 16 bits", encode_image(grey16, "TIFF"), "fine"
    deep = b"".join(b"\0" + random.Random(y).randbytes(16 * 6) for y in range(16))
    yield "PNG of 16 bits a channel", png(16, 16, depth=16, idat=zlib.compress(deep)), "fine"
    nothing = Image.fromarray(np.full((32, 32), np.nan, np.float32))
    yield "TIFF of NaN", encode_image(nothing, "TIFF"), "fine"
    endless = Image.fromarray(np.full((32, 32), np.inf, np.float32))
    yield "TIFF of infinities", encode_image(endless, "TIFF"), "fine"
    for compression in ("tiff_lzw", "packbits", "tiff_deflate", "jpeg", "group4"):
        source = picture("1") if compression == "group4" else picture()
        yield f"TIFF {compression}", encode_image(source, "TIFF", compression=compression), "fine"


def turned() -> Made:
    for kind in ("JPEG", "PNG", "WEBP", "TIFF"):
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            yield f"{kind} turned {orientation}", encode_image(picture(), kind, exif=exif), "fine"
    for value in (0, 9, 65535):
        exif = Image.Exif()
        exif[0x0112] = value
        yield f"JPEG turned {value}", encode_image(picture(), "JPEG", exif=exif), "fine"


def several_frames() -> Made:
    frames = [Image.new("RGB", (32, 32), (i % 256, 0, 0)) for i in range(300)]
    for kind, count in (("GIF", 300), ("PNG", 60), ("WEBP", 60), ("TIFF", 60), ("HEIF", 3), ("AVIF", 8)):
        yield (
            f"{kind} of {count} frames",
            encode_image(frames[0], kind, save_all=True, append_images=frames[1:count]),
            "fine",
        )
    yield "two JPEGs in one file", encode_image(frames[0], "MPO", save_all=True, append_images=frames[1:2]), "fine"


def polyglots() -> Made:
    extras = {
        "zip": b"PK\x03\x04" + bytes(40),
        "html": b"<script>alert(1)</script>",
        "php": b"<?php system('id'); ?>",
        "pdf": b"%PDF-1.4\n",
    }
    for kind in ("JPEG", "PNG", "GIF", "WEBP"):
        for name, extra in extras.items():
            yield f"{kind} and {name} behind it", plain(kind) + extra, "fine"
    for name, extra in extras.items():
        yield f"{name} with a JPEG behind it", extra + plain("JPEG"), "refused"
    yield "JPEG with a script as its comment", jpeg_with(segment(0xFE, b"*/=alert(1);/*")), "fine"
    yield "GIF that is also JavaScript", plain("GIF").replace(b"GIF89a", b"GIF87a", 1) + b"=1;alert(1)", "fine"
    yield "JPEG inside a PNG's text", png(16, 16, (b"tEXt", b"a\0" + plain("JPEG")), idat=rows(16, 16)), "fine"


def metadata() -> Made:
    noise = random.Random(8).randbytes(2000)
    loop = b"II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x08\0\0\0\x08\0\0\0"
    huge = b"II*\0\x08\0\0\0\x01\0\x0f\x01\x02\0\xff\xff\xff\xff\x08\0\0\0\0\0\0\0"
    for name, body in {
        "noise": noise, "an IFD that names itself": loop, "a string of four billion letters": huge, "nothing": b"",
        "a wrong byte order": b"XX*\0" + bytes(20), "an offset behind the end": b"II*\0\xff\xff\xff\x7f",
    }.items():  # fmt: skip
        yield f"JPEG with EXIF of {name}", jpeg_with(segment(0xE1, b"Exif\0\0" + body)), "fine"
        yield f"PNG with EXIF of {name}", png(16, 16, (b"eXIf", body), idat=rows(16, 16)), "fine"
    gps = Image.Exif()
    void = TiffImagePlugin.IFDRational(1, 0)
    gps.get_ifd(0x8825).update({1: "N", 2: (void, void, void), 3: "E", 4: (void, void, void)})
    yield "JPEG with a position that is no number", encode_image(picture(), "JPEG", exif=gps), "fine"
    entities = (
        b"<!DOCTYPE x [" + b"".join(b"<!ENTITY a%d '&a%d;&a%d;'>" % (i + 1, i, i) for i in range(40)) + b"]>&a40;"
    )
    for name, marker, body in (
        ("XMP with an entity bomb", 0xE1, b"http://ns.adobe.com/xap/1.0/\0" + entities),
        ("XMP of noise", 0xE1, b"http://ns.adobe.com/xap/1.0/\0" + noise),
        ("a profile of noise", 0xE2, b"ICC_PROFILE\0\x01\x01" + noise),
        ("part 9 of 3 of a profile", 0xE2, b"ICC_PROFILE\0\x09\x03" + noise),
        ("Photoshop blocks of noise", 0xED, b"Photoshop 3.0\x008BIM" + noise),
        ("an index of pictures elsewhere", 0xE2, b"MPF\0" + noise[:200]),
        ("an Adobe transform that is not", 0xEE, b"Adobe\0\x64\0\0\0\0\x09"),
        ("60 kB of comment", 0xFE, b"x" * 60_000),
    ):
        yield f"JPEG with {name}", jpeg_with(segment(marker, body)), "either" if marker == 0xEE else "fine"
    yield "JPEG with 200 comments", jpeg_with(*[segment(0xFE, b"y" * 300)] * 200), "fine"
    profiled = encode_image(picture(), "PNG", icc_profile=noise)
    yield "PNG with a profile of noise", profiled, "fine"
    yield (
        "WebP with metadata of noise",
        encode_image(picture(), "WEBP", exif=noise, xmp=noise, icc_profile=noise),
        "either",
    )


def broken_structure() -> Made:
    good = png(16, 16, idat=rows(16, 16))
    yield "PNG with a wrong checksum", good[:-20] + bytes((good[-20] ^ 1,)) + good[-19:], "either"
    yield "PNG with an unknown chunk that must be known", png(16, 16, (b"QuQu", b"x"), idat=rows(16, 16)), "either"
    yield (
        "PNG with two headers",
        png(16, 16, (b"IHDR", struct.pack(">IIBBBBB", 9999, 9999, 8, 2, 0, 0, 0)), idat=rows(16, 16)),
        "either",
    )
    yield "PNG without pixels", png(16, 16), "refused"
    yield "PNG of a depth that is none", png(16, 16, depth=7, idat=rows(16, 16)), "refused"
    yield "PNG palette without a palette", png(16, 16, colour=3, idat=zlib.compress((b"\0" + bytes(16)) * 16)), "either"
    raw = plain("JPEG")
    for marker, what in ((b"\xff\xdb", "quantisation tables"), (b"\xff\xc4", "Huffman tables"), (b"\xff\xda", "scan")):
        at = raw.index(marker)
        length = struct.unpack(">H", raw[at + 2 : at + 4])[0]
        yield f"JPEG without {what}", raw[:at] + raw[at + 2 + length :], "either"
        yield f"JPEG whose {what} claim to be longer", raw[: at + 2] + b"\xff\xff" + raw[at + 4 :], "either"
    yield "JPEG header twice", raw[:2] + raw, "either"
    yield "JPEG of 1x1 pixels", encode_image(Image.new("RGB", (1, 1)), "JPEG"), "refused"
    for tags, what in (
        ({273: 2**31}, "pixels behind the end"), ({279: 2**32 - 1}, "four billion bytes of pixels"),
        ({277: 60_000}, "60000 channels"),
        ({258: 99}, "99 bits"), ({259: 34712}, "a compression nobody has"), ({322: 0, 323: 0}, "tiles of no size"),
        ({278: 0}, "strips of no rows"), ({262: 77}, "colours nobody knows"),
    ):  # fmt: skip
        yield f"TIFF with {what}", tiff_with(tags), "either"
    yield "TIFF whose directory follows itself", tiff_with({})[:-4] + struct.pack("<I", 72), "either"
    heif = bytearray(plain("HEIF"))
    for at in range(8, 200, 16):
        broken = bytearray(heif)
        broken[at : at + 4] = b"\xff\xff\xff\xff"
        yield f"HEIF with a box that ends nowhere ({at})", bytes(broken), "either"
