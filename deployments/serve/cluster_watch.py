"""Watches the Ray cluster that this process is part of: whether its control process (GCS) and this raylet live.

The check opens a connection to each and closes it. Calls of Ray would wait a minute for a dead control process, and
then abort this process with a stack trace.
"""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass, field

import ray

from deployments.seam.ray import raylet_socket
from tts.errors import FatalError

_CONNECT_TIMEOUT_S = 2.0
_RAYLET_GRACE_S = 3.0  # a dead raylet does not come back under its old socket
_GCS_GRACE_S = 12.0  # a restarted control process with a store of its own may be back by then


class ClusterLost(FatalError):
    """The Ray cluster under this process is dead: calls to it would wait, and abort the process after a minute."""


@dataclass
class ClusterWatch:
    """Ask `check` every second or two. The raylet may be silent for 3 s, the control process for 12 s."""

    gcs: tuple[str, int]
    raylet_socket: str
    _last_reply: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of_this_process(cls) -> ClusterWatch:
        """The cluster that Ray is connected to here."""
        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        return cls((host.strip("[]"), int(port)), raylet_socket())

    def check(self) -> None:
        """Raises ClusterLost, which says what is gone, when a part was silent for longer than it may be."""
        for name, answers, grace_s in (
            ("the raylet of this node", self._raylet_answers, _RAYLET_GRACE_S),
            (f"its control process at {self.gcs[0]}:{self.gcs[1]}", self._gcs_answers, _GCS_GRACE_S),
        ):
            now = time.monotonic()
            if answers():
                self._last_reply[name] = now
            elif now - self._last_reply.setdefault(name, now) > grace_s:
                raise ClusterLost(
                    f"the Ray cluster under the service died: {name} does not answer. Start the service again; "
                    "why it died (memory is the usual reason) is in the logs of Ray, under /tmp/ray/session_latest/logs"
                )

    def _gcs_answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(self.gcs, timeout=_CONNECT_TIMEOUT_S):
            return True
        return False

    def _raylet_answers(self) -> bool:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_CONNECT_TIMEOUT_S)
            probe.connect(self.raylet_socket.removeprefix("unix://"))
            return True
        return False
