"""CORS: preflight requests of browsers, and which replies pages of other sites may read."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from deployments.http.problems import problem

_BODY_HEADERS = ("content-length", "content-type")


class Cors(CORSMiddleware):
    """Refuses a preflight with a problem, like everything else here."""

    def preflight_response(self, request_headers: Headers) -> Response:
        """Starlette's reply; a refusal becomes the problem `cors-refused` with the same status."""
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        headers = {name: value for name, value in response.headers.items() if name not in _BODY_HEADERS}
        return problem("cors-refused", response.status_code, bytes(response.body).decode(), headers=headers)
