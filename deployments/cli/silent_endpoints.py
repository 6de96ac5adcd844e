"""Warnings about the endpoints of the engines, before a command serves."""

from __future__ import annotations

from deployments.cli.warning_lines import warn
from deployments.config import AppArgs
from deployments.doctor.profile import endpoint_finding
from deployments.doctor.template_finding import template_finding
from deployments.endpoints.roles import endpoints_of


def warn_of_silent_endpoints(args: AppArgs) -> None:
    """Ask each once; takes seconds where one is silent. It may come up later, so the command serves all the same."""
    for endpoint in endpoints_of(args):
        if (found := endpoint_finding(endpoint)).state == "problem":
            warn(f"{found.what}: {found.detail}; {found.cost}. To fix it: {found.mend}")
        elif (lossy := template_finding(endpoint.engine)) is not None:
            warn(f"{lossy.what}: {lossy.detail}; {lossy.cost}. To fix it: {lossy.mend}")
