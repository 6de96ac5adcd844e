"""The blob store: the bytes of photos, crops and maps outside the run store, in a folder or at an fsspec URL.

A blob is named by the minute in which its request began, the request, and the SHA-256 of its bytes. So a request is
erased with one folder, there is no reference counting, and a sweep finds expired blobs by their names.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from deployments.runstore.port import StoreUnavailable
from tts.errors import ConfigError, boundary
from tts.private_files import make_private

P = ParamSpec("P")
T = TypeVar("T")


class BlobStore(Protocol):
    """Bytes by name; a name is a relative path. Every method may raise StoreUnavailable."""

    async def put(self, name: str, data: bytes) -> None:
        """Keep bytes, whole or not at all.

        Args:
            name: parts divided by `/`; folders that do not exist are made. What is there under the name is replaced.
            data: the bytes, of any length.
        """
        ...

    async def get(self, name: str) -> bytes | None:
        """Return the bytes of a blob.

        Args:
            name: as in `put`.

        Returns:
            All bytes; None when there are none of this name.
        """
        ...

    async def names(self, folder: str = "") -> Sequence[str]:
        """List a folder.

        Args:
            folder: the beginning of names, without the last `/`; empty for the whole store.

        Returns:
            The names of blobs and folders directly in it, without their path, in no order; empty when there is no such
            folder.
        """
        ...

    async def remove(self, folder: str) -> None:
        """Remove a folder with all that is in it; nothing when there is none, so it may be called again.

        Args:
            folder: as in `names`, never empty.
        """
        ...


class _BlockingBlobs(ABC):
    """A blob store whose calls block: each runs in a thread."""

    async def put(self, name: str, data: bytes) -> None:
        """Keep the bytes."""
        await _run_in_thread(self._put, name, data)

    async def get(self, name: str) -> bytes | None:
        """Read them."""
        return await _run_in_thread(self._get, name)

    async def names(self, folder: str = "") -> Sequence[str]:
        """List the folder."""
        return await _run_in_thread(self._list_names, folder)

    async def remove(self, folder: str) -> None:
        """Remove the folder."""
        await _run_in_thread(self._remove, folder)

    @abstractmethod
    def _put(self, name: str, data: bytes) -> None: ...

    @abstractmethod
    def _get(self, name: str) -> bytes | None: ...

    @abstractmethod
    def _list_names(self, folder: str) -> list[str]: ...

    @abstractmethod
    def _remove(self, folder: str) -> None: ...


class FolderBlobs(_BlockingBlobs):
    """Files of mode 0600 under folders of 0700, for gateways that share a file system."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def _put(self, name: str, data: bytes) -> None:
        # beside its place, and moved there
        path = self._root / name
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        make_private(beside)
        try:
            beside.write_bytes(data)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    def _get(self, name: str) -> bytes | None:
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None

    def _list_names(self, folder: str) -> list[str]:
        try:
            return [name for name in os.listdir(self._root / folder) if not name.startswith(".")]
        except FileNotFoundError:
            return []

    def _remove(self, folder: str) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(self._root / folder)


class FsspecBlobs(_BlockingBlobs):
    """Any file system that fsspec knows, such as s3://bucket/folder. Credentials are those of its own environment.

    Raises ConfigError when fsspec, or its package for this kind of URL, is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  an optional package
        except ImportError as error:
            raise ConfigError("a blob store at a URL needs the package: pip install 'geotts[blobs]'") from error
        try:
            self._files, self._root = url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ConfigError(f"gateway.blob_store: {error}") from error

    def _put(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, data)

    def _get(self, name: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(self._path(name)))
        except FileNotFoundError:
            return None

    def _list_names(self, folder: str) -> list[str]:
        self._files.invalidate_cache()  # whatever this process has seen of it before
        try:
            found: list[str] = self._files.ls(self._path(folder), detail=False)
        except FileNotFoundError:
            return []
        return [path.rstrip("/").rpartition("/")[2] for path in found]

    def _remove(self, folder: str) -> None:
        self._files.invalidate_cache()
        with suppress(FileNotFoundError):
            self._files.rm(self._path(folder), recursive=True)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else str(self._root)


def open_blobs(url: str) -> BlobStore:
    """The blob store at a folder (a path, or file:///path) or at any other URL that fsspec knows."""
    if "://" not in url:
        return FolderBlobs(Path(url).expanduser())
    if url.startswith("file://"):
        return FolderBlobs(Path(url.removeprefix("file://")))
    return FsspecBlobs(url)


async def _run_in_thread(ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    def ask_or_refuse() -> T:
        try:
            return ask(*args, **kwargs)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StoreUnavailable(f"the blob store cannot be used: {reason}") from error

    with boundary(StoreUnavailable, "the blob store"):
        return await asyncio.to_thread(ask_or_refuse)
