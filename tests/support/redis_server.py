"""A real Redis on a free port, for tests that share state between gateways."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from support.ports import free_port


def redis_program() -> str:
    """The path of the server. Skips the test where it is not installed."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed (Debian: apt install redis-server)")
    return program


@contextmanager
def running_redis(folder: Path, port: int | None = None) -> Iterator[str]:
    """Its URL, until the block ends. Skips where the server is not installed."""
    program, port = redis_program(), port or free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            _wait_for(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()


def _wait_for(port: int) -> None:
    give_up = time.monotonic() + 10
    with Redis(port=port) as client:
        while True:
            try:
                client.ping()
            except RedisError:
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.05)
            else:
                return
