"""Sites whose pages show where a photograph was taken: with them, a benchmark measures look-up, not localisation."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

PHOTO_HOSTS: Final = frozenset(
    {
        "500px.com",
        "alamy.com",
        "commons.wikimedia.org",
        "dreamstime.com",
        "flickr.com",
        "geograph.ie",
        "geograph.org.uk",
        "gettyimages.com",
        "instagram.com",
        "istockphoto.com",
        "kartaview.org",
        "mapillary.com",
        "mapio.net",
        "panoramio.com",
        "pbase.com",
        "photobucket.com",
        "pinterest.com",
        "shutterstock.com",
        "smugmug.com",
        "staticflickr.com",
        "unsplash.com",
        "upload.wikimedia.org",
    }
)


def is_photo_host(url: str) -> bool:
    """Tell whether a URL belongs to a photo site.

    Args:
        url: an absolute URL; a text without a host is of none of them.

    Returns:
        True if its host is one of `PHOTO_HOSTS` or below one.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:  # a bracket that is not closed, for one: nobody can open it
        return False
    labels = host.split(".")
    return any(".".join(labels[i:]) in PHOTO_HOSTS for i in range(len(labels) - 1))
