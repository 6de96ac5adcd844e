"""Cases of callers: kept in the run store, with the requests that belong to them.

A case outlives the retention of its requests, so the store keeps these as long as the case. Erasing a case erases its
requests first, in every place where erasing a request reaches; only then the case itself, so that what could not be
erased can be asked for again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from deployments.gateway.auth import Caller
from deployments.gateway.gateway import Gateway
from deployments.runstore import CaseRecord
from deployments.runstore.stored_values import value_of
from tts.api.cases import (
    MOST_RUNS,
    AddedRun,
    Case,
    CaseChange,
    CaseDraft,
    CaseOutcome,
    CaseRun,
    CaseSummary,
    ErasedCase,
)
from tts.domain.answer import Answer
from tts.domain.outgoing_request import rfc3339
from tts.domain.trajectory import Run
from tts.errors import NotFound, RequestError

MOST_CASES: Final = 1000
_MAX_ATTEMPTS = 8
_MAX_LISTED_RUNS = 3  # requests of a case in the list


class CaseChanged(RequestError):
    """Somebody else changed the case meanwhile: read it again."""

    code = "case-changed"
    status = 409


class CaseFull(RequestError):
    """No more cases, or no more requests in this one."""

    code = "case-full"
    status = 409


class Cases:
    """`keep_s` after its last change a case and its requests are forgotten."""

    def __init__(self, gateway: Gateway, keep_s: float) -> None:
        self._gateway = gateway
        self._store = gateway.store
        self._keep_s = keep_s

    async def create(self, draft: CaseDraft, caller: Caller) -> Case:
        """A new case without requests. Raises CaseFull for a caller with too many."""
        if len(await self._store.cases(caller.name)) >= MOST_CASES:
            raise CaseFull(f"there are {MOST_CASES} cases: erase some first")
        now = rfc3339(datetime.now(UTC))
        case_id = f"case_{secrets.token_hex(10)}"
        case = Case(case_id=case_id, version=1, created_at=now, changed_at=now, kept_until="", **dict(draft))
        return await self._write_case(case, caller)

    async def case(self, case_id: str, caller: Caller) -> Case:
        """The case, with what has come of its requests by now. Raises NotFound for one of somebody else, too."""
        case = await self._read_case(case_id, caller)
        runs = tuple([await self._look_up_outcome(run) for run in case.runs])
        if runs == case.runs:
            return case
        return await self._change_case(case_id, caller, lambda now: _with_outcomes(now, runs))

    async def list(self, caller: Caller, *, words: str = "", tag: str = "") -> tuple[CaseSummary, ...]:
        """Cases whose title, notes, statements, tags, titles of requests or places have all the words, newest first."""
        found = [value_of(Case, record.body) for record in await self._store.cases(caller.name)]
        wanted = words.casefold().split()
        kept = [case for case in found if _contains_words(case, wanted) and (not tag or tag in case.tags)]
        return tuple(_summary(case) for case in sorted(kept, key=lambda case: case.changed_at, reverse=True))

    async def save(self, case_id: str, change: CaseChange, caller: Caller) -> Case:
        """Replace what a person wrote. Raises CaseChanged when it was not the last version that they saw."""
        case = await self._read_case(case_id, caller)
        if case.version != change.version:
            raise CaseChanged(f"this case now has version {case.version}: read it again")
        draft = {name: getattr(change, name) for name in CaseDraft.model_fields}
        return await self._write_case(case.model_copy(update={**draft, "version": case.version + 1}), caller)

    async def add(self, case_id: str, run: AddedRun, caller: Caller) -> Case:
        """Keep a request of the caller in the case; nothing when it is there already."""
        meta = await self._gateway.meta(run.request_id, caller)

        def append_run(case: Case) -> Case:
            if any(known.request_id == run.request_id for known in case.runs):
                return case
            if len(case.runs) >= MOST_RUNS:
                raise CaseFull(f"a case has at most {MOST_RUNS} requests")
            return case.model_copy(update={"runs": (*case.runs, CaseRun(**dict(run), photos=meta.photos))})

        return await self._change_case(case_id, caller, append_run)

    async def erase_run(self, case_id: str, request_id: str, caller: Caller) -> Case:
        """Erase a request everywhere, and take it out of the case. Raises NotErased."""
        case = await self._read_case(case_id, caller)
        if all(run.request_id != request_id for run in case.runs):
            raise NotFound("this case has no such request")
        await self._gateway.erase(request_id)

        def remove_run(case: Case) -> Case:
            return case.model_copy(update={"runs": tuple(run for run in case.runs if run.request_id != request_id)})

        return await self._change_case(case_id, caller, remove_run)

    async def erase(self, case_id: str, caller: Caller) -> ErasedCase:
        """Erase its requests with their photos everywhere, then the case. Raises NotErased: ask again."""
        case = await self._read_case(case_id, caller)
        erased = [await self._gateway.erase(run.request_id, scrub=False) for run in case.runs]
        await self._store.erase_case(case_id)
        await self._store.scrub()
        return ErasedCase(case_id=case_id, requests=sum(erased))

    async def _read_case(self, case_id: str, caller: Caller) -> Case:
        record = await self._store.case(case_id)
        if record is None or record.tenant != caller.name:
            raise NotFound(f"there is no case {case_id[:40]}: it never existed, it was erased, or its time has passed")
        return value_of(Case, record.body)

    async def _change_case(self, case_id: str, caller: Caller, change: Callable[[Case], Case]) -> Case:
        """Change what nobody writes by hand; again when somebody else was faster."""
        for _ in range(_MAX_ATTEMPTS):
            case = await self._read_case(case_id, caller)
            changed = change(case)
            if changed == case:
                return case
            try:
                return await self._write_case(changed.model_copy(update={"version": case.version + 1}), caller)
            except CaseChanged:
                continue
        raise CaseChanged("this case is changed by others too often: try again")

    async def _write_case(self, case: Case, caller: Caller) -> Case:
        now = datetime.now(UTC)
        until = rfc3339(now + timedelta(seconds=self._keep_s))
        case = case.model_copy(update={"changed_at": rfc3339(now), "kept_until": until})
        requests = tuple(run.request_id for run in case.runs)
        body = case.model_dump_json()
        record = CaseRecord(
            case_id=case.case_id, tenant=caller.name, version=case.version, requests=requests, body=body
        )
        if not await self._store.save_case(record, keep_s=self._keep_s):
            raise CaseChanged("somebody else has changed this case: read it again")
        return case

    async def _look_up_outcome(self, run: CaseRun) -> CaseRun:
        """With its outcome, once there is one; an erased request is noticed also later."""
        erased = run.outcome is not None and run.outcome.status == "erased"
        if not erased and await self._store.meta(run.request_id) is None:
            return run.model_copy(update={"outcome": CaseOutcome(status="erased")})
        if run.outcome is not None:
            return run
        return run.model_copy(update={"outcome": _outcome_of_run(await self._gateway.current_run(run.request_id))})


def _with_outcomes(case: Case, runs: tuple[CaseRun, ...]) -> Case:
    known = {run.request_id: run.outcome for run in runs}
    runs_with_outcomes = tuple(
        run.model_copy(update={"outcome": known.get(run.request_id, run.outcome) or run.outcome}) for run in case.runs
    )
    return case.model_copy(update={"runs": runs_with_outcomes})


def _outcome_of_run(run: Run) -> CaseOutcome | None:
    if run.answer is not None:
        return _outcome_of_answer(run.answer)
    if run.failure is not None:
        return CaseOutcome(status="failed")
    return CaseOutcome(status="cancelled") if run.stop_reason is not None else None


def _outcome_of_answer(answer: Answer) -> CaseOutcome:
    names = dict.fromkeys(name for name in (answer.place, answer.city, answer.region, answer.country) if name)
    return CaseOutcome(
        status="abstained" if answer.abstained else "done",
        place=", ".join(names),
        lat=answer.lat,
        lon=answer.lon,
        confidence=answer.confidence,
        verdict=None if answer.check is None else answer.check.verdict,
    )


def _places_of_runs(case: Case) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.outcome.place for run in case.runs if run.outcome and run.outcome.place))


def _contains_words(case: Case, words: list[str]) -> bool:
    written = (case.title, case.notes, *case.tags, *(claim.text for claim in case.claims))
    texts = (*written, *(run.title for run in case.runs), *_places_of_runs(case))
    text = " ".join(texts).casefold()
    return all(word in text for word in words)


def _summary(case: Case) -> CaseSummary:
    return CaseSummary(
        **case.model_dump(include={"case_id", "title", "tags", "changed_at"}),
        runs=len(case.runs),
        running=sum(run.outcome is None for run in case.runs),
        places=_places_of_runs(case)[:5],
        entries=tuple(run.title for run in case.runs if run.title)[:5],
        first=case.runs[:_MAX_LISTED_RUNS],
    )
