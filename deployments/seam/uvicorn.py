"""The internals of uvicorn that `deployments.http.server.head_limits` rests on."""

from __future__ import annotations

import uvicorn.config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE as STATUS_LINE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as HttpToolsProtocol
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle as RequestResponseCycle


def set_default_protocol(path: str) -> None:
    """Set what `http="auto"`, as Serve has it, stands for from now on in this process: `module:Class`."""
    uvicorn.config.HTTP_PROTOCOLS["auto"] = path


def default_protocol() -> str | type:
    """What `http="auto"` stands for now."""
    return uvicorn.config.HTTP_PROTOCOLS["auto"]
