"""Listening sockets of a replica: taken again at once after a crash, never taken from somebody who listens."""

import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import httpx
import pytest
from support.ports import free_port

from deployments.seam.ray import reuse_address


def listener(port=0):
    made = socket.socket()
    assert reuse_address(made)
    made.bind(("127.0.0.1", port))
    made.listen()
    return made


def test_a_port_with_connections_that_nobody_closed_can_be_taken_again():
    with ExitStack() as clients:
        first = listener()
        port = first.getsockname()[1]
        for _ in range(20):
            clients.enter_context(socket.create_connection(("127.0.0.1", port)))
            first.accept()[0].close()  # the server goes first: its side stays in the kernel for a minute
        first.close()
        listener(port).close()


def test_a_port_that_somebody_listens_on_cannot_be_taken():
    with listener() as first, socket.socket() as second:
        assert reuse_address(second)
        with pytest.raises(OSError, match="in use"):
            second.bind(first.getsockname())


SERVER = """
import asyncio, sys
from ray.serve._private import replica
from ray.serve.config import HTTPOptions
from deployments.seam.ray import install_listeners

async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})

async def main():
    options = HTTPOptions(host="127.0.0.1", port=int(sys.argv[1]))
    loop = asyncio.get_running_loop()
    started = await replica.start_asgi_http_server(app, options, event_loop=loop, enable_so_reuseport=False)
    await started[0]

install_listeners()
asyncio.run(main())
"""


@contextmanager
def served_as_serve_does(port):
    with subprocess.Popen([sys.executable, "-c", SERVER, str(port)]) as server:
        try:
            yield server
        finally:
            server.kill()


def wait_for_answer(client, url, server):
    give_up = time.monotonic() + 60
    while True:
        assert server.poll() is None
        assert time.monotonic() < give_up
        try:
            return client.get(url)
        except httpx.ConnectError:
            time.sleep(0.1)


def test_a_server_that_crashed_under_keep_alive_clients_is_replaced_at_once():
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    with ExitStack() as stack:
        clients = [stack.enter_context(httpx.Client(trust_env=False)) for _ in range(20)]
        with served_as_serve_does(port) as server:
            wait_for_answer(clients[0], url, server)
            assert {client.get(url).status_code for client in clients} == {200}
        with served_as_serve_does(port) as server:
            assert wait_for_answer(clients[0], url, server).status_code == 200
