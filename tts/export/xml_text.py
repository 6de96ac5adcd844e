"""Removes characters that XML 1.0 does not allow, because texts of models and photos can have any character."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """`text` with a replacement character for each one that XML 1.0 does not allow (section 2.2)."""
    return _NOT_XML.sub("\ufffd", text)


def add_text(parent: ET.Element, name: str, text: str) -> ET.Element:
    """A new child element `name` that holds `text`."""
    child = ET.SubElement(parent, name)
    child.text = xml_text(text)
    return child


def xml_bytes(root: ET.Element) -> bytes:
    """The document in UTF-8, with its declaration, indented."""
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written
