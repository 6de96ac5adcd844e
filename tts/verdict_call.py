"""Asks the verifier for the verdict of a request before a deadline.

Its failure or silence is no error here: the caller then makes a verdict without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tts.aio import Deadline, closing
from tts.domain.answer import Verdict
from tts.domain.events import ToolCalled, ToolResulted
from tts.domain.usage import Usage
from tts.errors import GeoTTSError, ModelError, boundary
from tts.gen_ai import record_verdict
from tts.ports.rollout_groups import MayBegin
from tts.ports.verification import VerdictText, Verifier, VerifyRequest
from tts.telemetry import span

VerifierPiece = VerdictText | Usage | ToolCalled | ToolResulted


async def ask_verifier(
    verifier: Verifier,
    request: VerifyRequest,
    deadline: Deadline,
    on_piece: Callable[[VerifierPiece], Awaitable[None]],
    may_begin: MayBegin | None = None,
) -> tuple[Verdict | None, str]:
    """Let the verifier weigh the trajectories of a request.

    Args:
        verifier: is stopped when the deadline passes.
        request: what the verifier may know.
        deadline: when the verdict is needed; it also covers `on_piece`.
        on_piece: gets what the verifier yields besides the verdict, as it comes.
        may_begin: returns when the verifier may begin; None if it need not wait.

    Returns:
        The verdict, if there is one, and what went wrong, if anything did.
    """
    verdict: Verdict | None = None
    try:
        with span("verify"):
            async with deadline.timeout(), closing(verifier.verify(request)) as pieces:
                if may_begin is not None:
                    await may_begin()
                with boundary(ModelError, "verifier"):
                    async for piece in pieces:
                        if isinstance(piece, Verdict):
                            verdict = piece
                            record_verdict(piece)
                        else:
                            await on_piece(piece)
    except TimeoutError:
        return verdict, "the verifier did not finish in time"
    except GeoTTSError as error:
        return verdict, f"the verifier failed: {error.detail}"
    return verdict, ""
