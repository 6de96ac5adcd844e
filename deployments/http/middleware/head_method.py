"""Answers `HEAD` as `GET` without the body (RFC 9110 section 9.3.2)."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deployments.http.head_rule import answers_head


class HeadAsGet:
    """Asks the application for `GET` and lets only the headers out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer `HEAD` with the status and headers of `GET`; pass everything else on as it is."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or not answers_head(scope["path"]):
            await self._app(scope, receive, send)
            return

        async def bodiless(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # a scope of its own: the server looks into the other to see that HEAD may have a length and no body
        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, bodiless)
        finally:
            scope.update({name: value for name, value in asked.items() if name != "method"})  # the access log's route
