"""Free ports for tests."""

import random
import socket


def free_port() -> int:
    """A port of 127.0.0.1 that nothing uses. The kernel and Ray take their own ports from other ranges.

    The kernel could give a port of its range (bind to 0) to an outgoing connection before the test uses it.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
