"""Presigned URLs: each allows one operation on one object of an S3 bucket, for a few seconds.

AWS Signature Version 4 in the query, payload unsigned, one signed header (host):
https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html. Stores that call themselves S3-compatible
take the same.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import quote, urlsplit

from tts.net.secret import Secret

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class S3Keys:
    """Keys of an S3 store.

    Attributes:
        access: the access key, which is no secret.
        secret: the secret key.
        session: the session token of temporary keys; None for others.
    """

    access: str
    secret: Secret
    session: Secret | None = None


def presign_url(
    method: Literal["GET", "PUT", "DELETE"], url: str, keys: S3Keys, *, region: str, expires_s: int, at: datetime
) -> str:
    """Sign a URL of an S3 store (AWS Signature Version 4, query parameters).

    Args:
        method: the only method for which the URL can be used.
        url: the URL of the object, without a query.
        keys: access key, secret key and session token.
        region: region of the store, as `eu-central-1`.
        expires_s: seconds for which the URL can be used.
        at: from when on (UTC).

    Returns:
        The URL with its signature; nothing is sent.
    """
    parts = urlsplit(url)
    scope = f"{at:%Y%m%d}/{region}/s3/aws4_request"
    query = {
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{keys.access}/{scope}",
        "X-Amz-Date": f"{at:%Y%m%dT%H%M%SZ}",
        "X-Amz-Expires": str(expires_s),
        "X-Amz-SignedHeaders": "host",
    }
    if keys.session is not None:
        query["X-Amz-Security-Token"] = keys.session.reveal()
    stated = "&".join(f"{name}={quote(value, safe='-_.~')}" for name, value in sorted(query.items()))
    asked = "\n".join([method, parts.path, stated, f"host:{parts.netloc}", "", "host", "UNSIGNED-PAYLOAD"])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    to_sign = "\n".join([_ALGORITHM, query["X-Amz-Date"], scope, digest])
    key = f"AWS4{keys.secret.reveal()}".encode()
    for word in (*scope.split("/"), to_sign):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{stated}&X-Amz-Signature={key.hex()}"
