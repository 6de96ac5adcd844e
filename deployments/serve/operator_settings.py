"""Settings that an operator can change on a running service without a restart: Serve's `user_config` of a deployment.

If nothing else in the file has changed, `serve deploy` passes it to the running replicas. An error in it is logged and
does not stop a replica, which may have running conversations.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from deployments.config import AppArgs
from deployments.endpoints.roles import endpoints_of
from tts.inference.openai.endpoint.orders import Orders
from tts.inference.openai.endpoint.states import STATES, EndpointStates, same_address

_log = logging.getLogger("geotts.gateway")

DEFAULTS: dict[str, Any] = {"draining": []}
"""What holds again when a file no longer says anything."""


class OperatedReplica:
    """The calls of a deployment whose replicas follow what operators set and order."""

    _args: AppArgs

    async def reconfigure(self, settings: dict[str, Any]) -> None:
        """Called by Serve: what an operator sets while this runs."""
        apply_settings(settings, self._args)

    async def apply_orders(self, orders: Orders) -> Orders:
        """What operators ordered; returns the latest that this process knows."""
        return STATES.apply_orders(orders)


def apply_settings(settings: Mapping[str, Any], args: AppArgs, states: EndpointStates = STATES) -> None:
    """`draining`: addresses, as in the configuration, that get no new conversation; those on them go on."""
    if unknown := sorted(set(settings) - set(DEFAULTS)):
        _log.error("user_config has no setting %s: there is %s", ", ".join(unknown), ", ".join(DEFAULTS))
    draining = settings.get("draining", [])
    if not isinstance(draining, list | tuple) or not all(isinstance(address, str) for address in draining):
        _log.error("user_config.draining is no list of addresses: nothing was changed")
        return
    known = [endpoint.url for endpoint in endpoints_of(args)]
    for address in draining:
        if not any(same_address(address, one) for one in known):
            _log.error("user_config.draining: %s is no endpoint here; there are: %s", address, ", ".join(known))
    states.drain(draining)
