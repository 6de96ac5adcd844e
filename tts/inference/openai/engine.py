"""The `openai` engine: any endpoint that speaks chat completions, over HTTP, streamed.

Closing the iterator closes the connection, which is how every known server learns to stop generating. Busy, broken or
lost endpoints are asked again, with jitter and no sooner than they say, while nothing of the answer has been passed on
and time is left; afterwards the failure has `transient`, and the rollout may repeat the turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import orjson

from tts.aio import Deadline, Limiter
from tts.config import OpenAIEngine
from tts.config.setting_names import OF_ENGINE, SettingNames
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.errors import GeoTTSError, ModelError
from tts.inference.openai.choices import several_choices
from tts.inference.openai.connection import Connection, check_size
from tts.inference.openai.endpoint.adaptation import ADAPTABLE_STATUS, adapt
from tts.inference.openai.endpoint.advice import overflows_context
from tts.inference.openai.endpoint.canary import Canary, CanaryOutcome
from tts.inference.openai.endpoint.detection import Detection
from tts.inference.openai.endpoint.held_pictures import HeldPictures
from tts.inference.openai.endpoint.list_prices import shipped_prices
from tts.inference.openai.endpoint.question import Question
from tts.inference.openai.endpoint.refusal import Refusal
from tts.inference.openai.endpoint.refusal_memory import EndpointMemory
from tts.inference.openai.endpoint.remedies import remedy_for
from tts.inference.openai.endpoint.sent_pictures import PictureCache
from tts.inference.openai.endpoint.traits import HOSTED, EndpointTraits
from tts.inference.openai.endpoint.truncation_check import CUTS_SILENTLY, TruncationCheck, needed_tokens
from tts.inference.openai.request_json import ChatBody, body_for, refused_request
from tts.inference.openai.retry import AskAgain, Backoff
from tts.inference.openai.streamed_completion import Completion, SseLines, usage_in
from tts.net.url_secrets import bare_url
from tts.ports.model_client import Delta, ModelRequest

_BODY_END_TIMEOUT_S = 0.02
_MAX_FORMS = 12
_log = logging.getLogger(__name__)
_CHAT_PATH = "chat/completions"


class OpenAIModel:
    """The `ModelClient` over an endpoint. `running` counts generations that have been asked for and not ended.

    `names`: how advice about a failure names the settings of this engine.
    """

    def __init__(
        self, config: OpenAIEngine, transport: httpx.AsyncBaseTransport | None = None, names: SettingNames = OF_ENGINE
    ) -> None:
        self._config = config
        self._names = names
        self._http = Connection(config, transport, names)
        self._pictures = PictureCache(quality=config.jpeg_quality)
        self._backoff = Backoff(config.backoff_s)
        self._limiter = Limiter(config.max_running, config.max_queued)
        self._model = config.model
        self._traits = EndpointTraits.from_config(config)
        self._is_detected = False
        self._detection_lock = asyncio.Lock()
        self._memory = EndpointMemory(config.base_url, config.remember_days)
        self._server = ""
        self._stored_traits: EndpointTraits | None = None
        self._uploads = HeldPictures()
        self._truncation_check = TruncationCheck()
        self._check_lock = asyncio.Lock()
        self._draws_in_one_request = True
        self.running = 0

    @property
    def name(self) -> str:
        """The model that is configured or that the endpoint was found to serve; `openai` while neither is known."""
        return self._model or "openai"

    async def aclose(self) -> None:
        """Close idle connections."""
        await self._http.aclose()

    @property
    def price(self) -> Price | None:
        """The price of tokens; None if it is unknown."""
        return self._traits.price or shipped_prices().price_of(self._model)

    @property
    def traits(self) -> EndpointTraits:
        """What is known of the endpoint so far."""
        return self._traits

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Ask again, in another form or later, until the endpoint serves it; never once text was passed on.

        Raises:
            ModelError: the endpoint refuses, fails or cannot be reached.
            Overloaded: it is still busy after all retries.
            DeadlineExceeded: the time of the request is over.
        """
        deadline = Deadline(request.context.remaining_s)
        async with aclosing(self._ask_persistently(request, deadline)) as deltas:
            async for delta in deltas:
                yield delta

    async def draw(self, request: ModelRequest, count: int) -> tuple[tuple[str | None, ...], Usage]:
        """See `DrawsTogether` in `tts.ports.engine_offers`. An endpoint that drew only one is not asked so again."""
        if not self._draws_in_one_request or count < 2:
            return (), Usage()
        async with self._limiter.slot():
            body = await body_for(request, self._config, self._model, self._pictures, self._traits, held=self._uploads)
            texts, used = await several_choices(self._http, _CHAT_PATH, body.wire, count, request.context, self._config)
        self._draws_in_one_request = len(texts) > 1
        return texts, self._add_price(used, used.bytes_sent)

    async def _ask_persistently(self, request: ModelRequest, deadline: Deadline) -> AsyncGenerator[Delta]:
        """Ask until it is served: in another form where the endpoint refuses one, later where it is busy."""
        attempt, forms = 0, 0
        max_tokens: int | None = None
        while True:
            passed_on, pause = False, 0.0
            try:
                async with aclosing(self._attempt(request, deadline, max_tokens)) as deltas:
                    async for delta in deltas:
                        passed_on = passed_on or not delta.is_aside
                        yield delta
                return
            except AskAgain as again:
                forms += 1
                max_tokens = again.max_tokens or max_tokens
                if forms > _MAX_FORMS:
                    raise self._explain_failure(again.failure) from None
            except GeoTTSError as failure:
                self._explain_failure(failure)
                if passed_on or not failure.fields.get("transient") or attempt >= self._config.retries:
                    raise
                pause = self._backoff.pause_s(attempt, failure.fields.get("retry_after_s"))
                if pause >= deadline.remaining_s():
                    raise
                attempt += 1
            await asyncio.sleep(pause)

    async def check_context(self, tokens: int, deadline: Deadline) -> CanaryOutcome | None:
        """Whether a prompt of so many tokens is read from its first word; None where the server refuses longer ones.

        Raises what a generation raises when the endpoint cannot be asked.
        """
        await self._detect("", deadline)
        if self._traits.kind not in CUTS_SILENTLY | {"other"}:
            return None
        outcome: CanaryOutcome | None = None
        spent = Usage()
        async with aclosing(self._canary(tokens, "", deadline)) as steps:
            async for step in steps:
                if isinstance(step, CanaryOutcome):
                    outcome = replace(step, usage=spent)
                else:
                    spent += step.spent or Usage()
        if outcome is not None and outcome.state == "whole":
            self._traits = self._truncation_check.learn(outcome, self._traits)
            await self._remember()
        return outcome

    def _explain_failure(self, failure: GeoTTSError) -> GeoTTSError:
        """The failure, with the endpoint and what to do about it."""
        mend = remedy_for(failure, self._config, self._names)
        failure.fields |= {"endpoint": bare_url(self._config.base_url), "mend": mend}
        return failure

    async def _attempt(
        self, request: ModelRequest, deadline: Deadline, max_tokens: int | None
    ) -> AsyncGenerator[Delta]:
        self.running += 1
        try:
            if not self._is_detected:
                async with self._detection_lock:
                    await self._detect(request.context.id, deadline)
            async with self._limiter.slot():
                async with aclosing(self._check_truncation(request, deadline, self._wants_check)) as deltas:
                    async for delta in deltas:
                        yield delta
                async with aclosing(self._ask(request, deadline, max_tokens)) as deltas:
                    async for delta in deltas:
                        yield delta
        finally:
            self.running -= 1

    def _wants_check(self) -> bool:
        return self._truncation_check.wants_check(self._traits)

    async def _check_truncation(
        self, request: ModelRequest, deadline: Deadline, wanted: Callable[[], bool]
    ) -> AsyncGenerator[Delta]:
        """See that the first words of such a request arrive. Raises ModelError when they do not."""
        if not wanted():
            return
        async with self._check_lock:
            if not wanted():  # a sibling has asked meanwhile
                return
            async with aclosing(self._canary(needed_tokens(request), request.context.id, deadline)) as steps:
                async for step in steps:
                    if isinstance(step, Delta):
                        yield step
                    else:
                        self._traits = self._truncation_check.learn(step, self._traits)

    async def _canary(self, tokens: int, asked_for: str, deadline: Deadline) -> AsyncGenerator[Delta | CanaryOutcome]:
        """What each question of a canary took, and what came of them."""
        canary = Canary(self._model, self._traits, tokens)
        while (question := canary.question) is not None:
            patience_s = self._config.first_token_s
            try:
                response = await self._http.ask("POST", _CHAT_PATH, question, deadline, patience_s, asked_for)
            except ModelError as failure:
                canary.feed(Refusal(0, failure.detail))
                continue
            ok = response.status_code == httpx.codes.OK
            answer = _parse_json(response) if ok else await self._http.refusal(response, deadline)
            usage = usage_in(answer) if isinstance(answer, dict) else None
            yield Delta(spent=self._add_price(usage or Usage(), len(response.request.content)) + Usage(model_calls=1))
            canary.feed(answer)
        if canary.outcome is not None:
            yield canary.outcome

    async def _detect(self, asked_for: str, deadline: Deadline) -> None:
        """Ask the endpoint once what it is and which models it has, and recall what it refused before."""
        if self._is_detected:
            return
        known = await asyncio.to_thread(self._memory.recall, self._model) if self._model else None
        if known is not None and known.kind in HOSTED and self._config.server == "auto":
            await self._learn_traits(self._traits.with_known_traits(known))
            return
        detection = Detection(
            self._traits,
            host=httpx.URL(self._config.base_url).host,
            model=self._model,
            full=self._config.server == "auto",
            names=self._names,
        )
        while (question := detection.question) is not None:
            response = await self._send_question(question, deadline, asked_for, needed=not self._model)
            detection.feed(_parse_json(response) if response.status_code == httpx.codes.OK else None, response.headers)
        if detection.lost:
            _log.warning("%s: its chat template loses %s: sent in another form", self.name, ", ".join(detection.lost))
        self._model = detection.model
        await self._learn_traits(detection.traits)

    async def _learn_traits(self, traits: EndpointTraits) -> None:
        """Start with the server's description of itself, and with the forms that it refused before."""
        if self._config.pictures == "uuid" or (self._config.pictures == "auto" and traits.kind == "vllm"):
            traits = traits.model_copy(update={"pictures": "uuid"})
        self._server = traits.server
        known = await asyncio.to_thread(self._memory.recall, self._model, traits.server)
        self._traits = traits if known is None else traits.narrow(known, fixed=self._config.model_fields_set)
        self._stored_traits = None if known is None and traits.kind in HOSTED else self._traits
        if traits.slots is not None and traits.slots < self._config.max_running:
            self._limiter = Limiter(traits.slots, self._config.max_queued)
        self._is_detected = True

    async def _remember(self) -> None:
        """Store the changed traits for the next process. The endpoint has just served a request in this form."""
        if self._traits != self._stored_traits:
            self._stored_traits = self._traits
            await asyncio.to_thread(self._memory.keep, self._model, self._server, self._traits)

    async def _send_question(
        self, question: Question, deadline: Deadline, asked_for: str, *, needed: bool
    ) -> httpx.Response:
        """Whatever came back. Raises as a generation does when an answer is needed and there is none."""
        patience_s = self._config.first_token_s if question.body is not None else self._config.idle_s
        response = await self._http.ask(question.method, question.path, question.body, deadline, patience_s, asked_for)
        if needed and response.status_code != httpx.codes.OK:
            raise self._http.failure(await self._http.refusal(response, deadline), response)
        return response

    async def _ask(self, request: ModelRequest, deadline: Deadline, max_tokens: int | None) -> AsyncGenerator[Delta]:
        """One attempt. Every failure of the connection or the endpoint leaves as one of our errors."""
        traits = self._traits
        chat_body = await body_for(
            request, self._config, self._model, self._pictures, traits, max_tokens=max_tokens, held=self._uploads
        )
        body = orjson.dumps(chat_body.wire)
        self._truncation_check.check_before(traits, chat_body.text_bytes)
        turn = sum(message.role == "assistant" for message in request.messages)
        used = frozenset(call.id for message in request.messages for call in message.tool_calls)
        completion = Completion(turn=turn, used_ids=used, max_tokens=request.sampling.max_tokens)
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            "X-Request-Id": request.session_id,
        }
        if request.context.trace is not None:
            headers |= request.context.trace.headers()
        patience_s = self._config.first_token_s
        response = await self._http.post(_CHAT_PATH, body, headers, deadline, patience_s, request.context.id)
        try:
            if response.status_code != httpx.codes.OK:
                refusal = await self._http.refusal(response, deadline)
                raise self._adapt_to_refusal(refusal, self._http.failure(refusal, response), traits, chat_body, request)
            async with aclosing(self._text_of_reply(response, deadline, completion)) as texts:
                async for text in texts:
                    self._uploads.remember_accepted(chat_body.uploaded, chat_body.referenced)
                    yield Delta(text=text)
            self._uploads.remember_accepted(chat_body.uploaded, chat_body.referenced)  # of a reply without text, too
            text, last = completion.last()
            if last.usage is not None:
                doubts = partial(self._truncation_check.is_doubtful, traits, chat_body.text_bytes, last.usage)
                async with aclosing(self._check_truncation(request, deadline, doubts)) as deltas:
                    async for delta in deltas:
                        yield delta
                self._truncation_check.check_after(traits, request.session_id, chat_body.text_bytes, last.usage)
            if text:
                yield Delta(text=text)
            await self._remember()
            yield last._replace(usage=self._add_price(last.usage or Usage(), len(body)))
        finally:
            await response.aclose()

    def _add_price(self, usage: Usage, bytes_sent: int) -> Usage:
        cost_usd = self.price.cost_usd(usage) if self.price is not None else 0.0
        return usage.model_copy(update={"bytes_sent": bytes_sent, "cost_usd": cost_usd})

    def _adapt_to_refusal(
        self, refusal: Refusal, failure: GeoTTSError, used: EndpointTraits, chat_body: ChatBody, request: ModelRequest
    ) -> GeoTTSError:
        """The failure, or the wish to ask in another form. Siblings may have found that form meanwhile."""
        if self._traits != used:
            return AskAgain(failure)
        adaptation = adapt(used, refusal, refused_request(chat_body, request, used))
        forgotten = refusal.status in ADAPTABLE_STATUS and not overflows_context(refusal)
        if adaptation is None and chat_body.referenced and forgotten:
            if self._uploads.forget_refused(chat_body.referenced):
                self._traits = used.model_copy(update={"pictures": "inline"})
            return AskAgain(failure)
        if adaptation is None:
            return failure
        self._traits = adaptation.traits
        _log.info("%s refused a request (%s): asked again in another form", self._model, refusal.message[:200])
        return AskAgain(failure, adaptation.max_tokens)

    async def _text_of_reply(
        self, response: httpx.Response, deadline: Deadline, completion: Completion
    ) -> AsyncGenerator[str]:
        """The text of a reply as it comes, or all of it from an endpoint that does not stream."""
        if "json" in response.headers.get("content-type", ""):
            text = completion.feed_object(await self._whole_object(response, deadline))
            completion.ended = True
            yield text
            return
        lines = SseLines()
        async with aclosing(self._read_chunks(response, deadline, completion)) as pieces:
            async for piece in pieces:
                for data in lines.feed(piece):
                    if text := completion.feed(data):
                        yield text

    async def _read_chunks(
        self, response: httpx.Response, deadline: Deadline, completion: Completion
    ) -> AsyncGenerator[bytes]:
        """Raw bytes as they come; the first may take longer than the next.

        After the last one of the completion the end of the body is awaited for a moment, no longer: a connection read
        to its end serves the next turn too.
        """
        source = response.aiter_bytes()
        patience_s, received = self._config.first_token_s, 0
        while (piece := await self._http.wait_for_network(anext(source, b""), deadline, patience_s)) != b"":
            check_size(received := received + len(piece))
            yield piece
            if completion.ended:
                with suppress(GeoTTSError):
                    await self._http.wait_for_network(anext(source, b""), deadline, _BODY_END_TIMEOUT_S)
                return
            patience_s = self._config.idle_s

    async def _whole_object(self, response: httpx.Response, deadline: Deadline) -> dict[str, Any]:
        """The body of an endpoint that does not stream."""
        raw = await self._http.read_body(response, deadline, self._config.first_token_s)
        try:
            found = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise ModelError("the endpoint sent no completion", transient=True) from error
        if not isinstance(found, dict):
            raise ModelError("the endpoint sent no completion")
        return found


def _parse_json(response: httpx.Response) -> Any:
    """The JSON of a response; None when it is none."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(response.content)
    return None
