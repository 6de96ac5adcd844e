"""Distributes the orders of operators (drain, undrain) to every replica that sends conversations to endpoints.

A gateway distributes an order at once, and again with every check of the endpoints. A replica that is started later
gets it within seconds, from any gateway that has it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ray import serve
from ray.serve.handle import DeploymentHandle

from deployments.http.service import Spread
from tts.errors import FatalError, GeoTTSError, boundary
from tts.inference.openai.endpoint.orders import Orders
from tts.inference.openai.endpoint.states import STATES

_PATIENCE_S = 5.0
_GATEWAY_DEPLOYMENT = "Gateway"
_log = logging.getLogger("geotts.gateway")


def to_all_replicas(workers: Mapping[str, DeploymentHandle[Any]]) -> Spread:
    """To the replicas of the gateway and of these deployments. For use in a replica of the gateway."""
    handles: dict[str, DeploymentHandle[Any]] = dict(workers)

    async def spread(orders: Orders) -> bool:
        """Whether all replicas that run have heard them. Newer orders that one of them knows hold here, too."""
        if _GATEWAY_DEPLOYMENT not in handles:  # the first time: its own application is not there while it is made
            handles[_GATEWAY_DEPLOYMENT] = serve.get_deployment_handle(
                _GATEWAY_DEPLOYMENT, serve.get_replica_context().app_name
            )
        any_reply = True
        for name, handle in handles.items():
            try:
                with boundary(FatalError, f"orders for {name}"):
                    replies = handle.broadcast("apply_orders", orders)
                    for known in await replies.results_async(timeout_s=_PATIENCE_S):
                        STATES.apply_orders(known)
            except GeoTTSError as error:
                _log.warning("orders of an operator did not reach every replica of %s: %s", name, error.detail)
                any_reply = False
        return any_reply

    return spread
