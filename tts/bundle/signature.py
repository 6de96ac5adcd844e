"""A signature over the root hash (ed25519, RFC 8032): without the private key, nobody can sign another bundle.

Needs the extra `evidence`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from tts.bundle.bundle_files import SIGNATURE, root_hash
from tts.errors import ConfigError, DataError

_HEX = re.compile(r"[0-9a-f]{64}")


def sign_files(entries: Mapping[str, bytes], private_pem: bytes) -> dict[str, bytes]:
    """The files with `signature.json`. Raises ConfigError for what is no ed25519 key in PEM without a password."""
    ed25519, serialization = _import_cryptography()
    try:
        key = serialization.load_pem_private_key(private_pem, password=None)
    except (ValueError, TypeError) as error:
        raise ConfigError("this is no private key in PEM, or it has a password") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise ConfigError("an ed25519 key is needed: openssl genpkey -algorithm ed25519")
    fields = {
        "algorithm": "ed25519",
        "public_key": key.public_key().public_bytes_raw().hex(),
        "root_sha256": root_hash(entries),
        "signature": key.sign(root_hash(entries).encode()).hex(),
    }
    return {**entries, SIGNATURE: orjson.dumps(fields, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)}


def signer_of(entries: Mapping[str, bytes]) -> str:
    """The public key (hex) whose signature is good; empty for a bundle without one. Raises DataError for a bad one."""
    raw = entries.get(SIGNATURE)
    if raw is None:
        return ""
    ed25519, _ = _import_cryptography()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  optional, as above

    try:
        fields = orjson.loads(raw)
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(fields["public_key"]))
        key.verify(bytes.fromhex(fields["signature"]), root_hash(entries).encode())
        rewritten = {**fields, "algorithm": "ed25519", "root_sha256": root_hash(entries)}
    except (InvalidSignature, ValueError, TypeError, KeyError) as error:
        raise DataError("the signature is not good: it was changed, or is of another bundle") from error
    if rewritten != fields or orjson.dumps(fields, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE) != raw:
        raise DataError(f"{SIGNATURE} was changed")
    return str(fields["public_key"])


def public_key(given: str) -> str:
    """A public key as hex digits, from these digits or from a file of `openssl pkey -pubout` (PEM).

    Raises ConfigError for what is neither.
    """
    written = given.strip().lower()
    if _HEX.fullmatch(written):
        return written
    path = Path(given).expanduser()
    if not path.is_file():
        raise ConfigError(f"{given[:80]!r} is no public key: give its 64 hexadecimal digits, or a file in PEM")
    ed25519, serialization = _import_cryptography()
    try:
        key = serialization.load_pem_public_key(path.read_bytes())
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{given} holds no public key in PEM: openssl pkey -in KEY.pem -pubout") from error
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise ConfigError(f"{given} holds no ed25519 key")
    return str(key.public_bytes_raw().hex())


def _import_cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  optional: the `evidence` extra
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415  as above
    except ModuleNotFoundError as error:
        raise ConfigError("signatures need an extra: pip install 'geotts[evidence]'") from error
    return ed25519, serialization
