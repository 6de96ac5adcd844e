"""Structured concurrency: tasks, deadlines, streams and limits. Tasks are spawned in `tts.aio.tasks`, nowhere else."""

from __future__ import annotations

from tts.aio.deadline import Deadline
from tts.aio.growing_merge import GrowingMerge
from tts.aio.limits import Limiter, Turnstile
from tts.aio.milestone import Milestone
from tts.aio.streams import Channel, Send, batches, closing, coalesce, merge, run_all, stream
from tts.aio.tasks import cancel_and_wait, first_to_end, heeding_cancels, run_in_background, run_to_end, spawn

__all__ = [
    "Channel",
    "Deadline",
    "GrowingMerge",
    "Limiter",
    "Milestone",
    "Send",
    "Turnstile",
    "batches",
    "cancel_and_wait",
    "closing",
    "coalesce",
    "first_to_end",
    "heeding_cancels",
    "merge",
    "run_all",
    "run_in_background",
    "run_to_end",
    "spawn",
    "stream",
]
