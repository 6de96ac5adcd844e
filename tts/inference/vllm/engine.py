"""The `vllm` engine: vLLM in this process, tokens in, tokens out.

One engine serves all rollouts of its replica. N rollouts of a photo are cheap because its caches hit: a
conversation is a list of token ids that only grows (`conversation`), and pictures are named by their content
(`content_pictures`).
Closing the iterator of `generate` aborts the generation in the engine. Several answers to one prompt (`draw`) are one
request of vLLM that it forks: they share the blocks of their prompt.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace

from tts.aio import closing
from tts.config import VllmEngine
from tts.config.setting_names import OF_ENGINE, SettingNames
from tts.dialects.hermes_tool_parser import calls_in
from tts.domain.usage import Usage
from tts.errors import ModelError, boundary
from tts.inference.constrained_decoding import forced_calls, turn_schema
from tts.inference.token_prompts import TokenPrompts
from tts.inference.unreported_gpu_time import UNREPORTED_GPU_TIME
from tts.inference.vllm.content_pictures import ContentPictures
from tts.inference.vllm.seam import EngineStats, Generation, Piece, VllmSeam
from tts.inference.vllm.shared_time import GPU_TIME, GpuCharge, SharedTime
from tts.ports.model_client import Delta, ModelRequest


class VllmModel:
    """The `ModelClient` over an in-process vLLM. Making one takes as long as loading the model.

    What it costs of GPUs is counted by `claimed_gpus`, those that its deployment keeps from everybody else, or by the
    GPUs that vLLM runs on where none are claimed. `time` divides each second among the generations of all engines that
    work on these GPUs. `names`: how advice about a failure names the settings of this engine.
    """

    def __init__(
        self,
        config: VllmEngine,
        seam: VllmSeam | None = None,
        *,
        share: bool = True,
        claimed_gpus: float = 0.0,
        time: SharedTime = GPU_TIME,
        names: SettingNames = OF_ENGINE,
    ) -> None:
        self._config = config
        self._share = share
        self._seam = seam or VllmSeam(config, names)
        self._gpus = claimed_gpus or self._seam.gpus
        self._conversations = TokenPrompts(self._seam.tokenizer)
        self._pictures = ContentPictures()
        self._request_numbers = itertools.count()
        self._gpu_time = time

    @property
    def name(self) -> str:
        """Always `vllm`, whatever model it has loaded."""
        return "vllm"

    @property
    def running(self) -> int:
        """Generations that the engine was given and has not finished or aborted."""
        return self._seam.unfinished

    @property
    def block_size(self) -> int:
        """Tokens that the prefix cache keeps or drops together."""
        return self._seam.block_size

    @property
    def forks_prompts(self) -> bool:
        """Whether a draw finds the prompt of the answer in the cache."""
        return self._share

    def cold(self) -> VllmModel:
        """The same engine, every prompt computed in full: what sharing is measured against."""
        return VllmModel(self._config, self._seam, share=False, claimed_gpus=self._gpus, time=self._gpu_time)

    @property
    def stats(self) -> EngineStats:
        """Counts of the engine; the object goes on changing while the engine runs."""
        return self._seam.stats

    @property
    def kv_tokens(self) -> int | None:
        """Tokens that the KV cache holds."""
        return self._seam.kv_tokens

    @property
    def kv_used_tokens(self) -> int:
        """Tokens in use as of the engine's last step; those it only keeps in case they come again are free."""
        return round(self.kv_use * (self.kv_tokens or 0))

    @property
    def kv_use(self) -> float:
        """Share of the KV cache in use as of the engine's last step, 0 to 1."""
        return self._seam.stats.kv_use

    async def check_health(self) -> None:
        """Raises FatalError when the engine core is gone."""
        self._seam.check()

    def close(self) -> None:
        """End the engine core, which is a process of its own. Blocks until it is gone."""
        self._seam.close()

    async def aclose(self) -> None:
        """`close`, for whoever composes parts; once is enough, and more is no error."""
        await asyncio.to_thread(self.close)

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """The last delta has the usage, with the GPU seconds. Those of a generation that has none are kept for the
        request (`tts.inference.unreported_gpu_time`). Errors of vLLM come as ModelError.
        """
        with boundary(ModelError, "vllm"):
            generation, forced = await self._make_generation(request)
            charge = GpuCharge(self._gpu_time, self._gpus)
            with UNREPORTED_GPU_TIME.track_generation(request.context.id, charge):
                async with closing(self._deltas(request, generation, charge, forced=forced)) as deltas:
                    async for delta in deltas:
                        yield delta

    async def draw(self, request: ModelRequest, count: int) -> tuple[tuple[str | None, ...], Usage]:
        """See `tts.ports.engine_offers.DrawsTogether`. The usage counts the prompt once for each draw."""
        with boundary(ModelError, "vllm"):
            generation, _ = await self._make_generation(request)
            charge = GpuCharge(self._gpu_time, self._gpus)
            with UNREPORTED_GPU_TIME.track_generation(request.context.id, charge):
                return await self._collect_draws(replace(generation, draws=count), charge)

    async def _collect_draws(self, generation: Generation, charge: GpuCharge) -> tuple[tuple[str | None, ...], Usage]:
        texts: list[list[str]] = [[] for _ in range(generation.draws)]
        finished_draws: set[int] = set()
        cached = prompt_tokens = completion_tokens = 0
        async with closing(self._seam.generate(generation)) as pieces:
            async for piece in pieces:
                texts[piece.draw].append(piece.text)
                cached, prompt_tokens = max(cached, piece.cached_tokens), max(prompt_tokens, piece.prompt_tokens)
                completion_tokens += len(piece.token_ids)
                if piece.finish_reason == "stop":
                    finished_draws.add(piece.draw)
        usage = Usage(
            prompt_tokens=generation.draws * prompt_tokens,
            cached_tokens=generation.draws * cached,
            completion_tokens=completion_tokens,
            gpu_s=charge.report(),
        )
        return tuple("".join(text) if i in finished_draws else None for i, text in enumerate(texts)), usage

    async def _deltas(
        self, request: ModelRequest, generation: Generation, charge: GpuCharge, *, forced: bool
    ) -> AsyncIterator[Delta]:
        texts: list[str] = []
        cached = prompt_tokens = completion_tokens = preemptions = preempted_tokens = 0
        async with closing(self._seam.generate(generation)) as pieces:
            async for piece in pieces:
                texts.append(piece.text)
                cached, prompt_tokens = max(cached, piece.cached_tokens), max(prompt_tokens, piece.prompt_tokens)
                preempted_tokens += (piece.preemptions - preemptions) * (prompt_tokens + completion_tokens)
                preemptions = piece.preemptions
                completion_tokens += len(piece.token_ids)
                if piece.finish_reason is None:
                    yield Delta(text=piece.text, token_ids=piece.token_ids, logprobs=piece.logprobs)
                    continue
                usage = Usage(
                    prompt_tokens=prompt_tokens,
                    cached_tokens=cached,
                    completion_tokens=completion_tokens,
                    preempted_tokens=preempted_tokens,
                    gpu_s=charge.report(),
                )
                yield self._last_delta(request, piece, "".join(texts), usage, forced=forced)

    async def _make_generation(self, request: ModelRequest) -> tuple[Generation, bool]:
        """The request as the engine takes it, and whether it is bound to be a tool call."""
        listed = request.tools if request.listed_tools is None else request.listed_tools
        prompt = self._conversations.prompt(request.session_id, request.messages, listed)
        schema = request.json_schema
        bound = schema is None and self._config.constrain == "turns"
        if bound:
            own = self._config.turn_schema if request.tools else None
            schema = own or turn_schema(request.tools)
        number = next(self._request_numbers)
        generation = Generation(
            id=f"{request.session_id}#{number}",
            token_ids=prompt.token_ids,
            pictures=await self._pictures.pictures_of(request, prompt.images),
            sampling=request.sampling,
            json_schema=schema,
            priority=request.context.priority,
            lora=request.lora or self._config.lora,
            cache_salt=None if self._share else f"{id(self)}#{number}",
        )
        return generation, bound and bool(request.tools)

    @staticmethod
    def _last_delta(request: ModelRequest, piece: Piece, text: str, usage: Usage, *, forced: bool) -> Delta:
        turn = sum(message.role == "assistant" for message in request.messages)
        calls = forced_calls(text, turn=turn) if forced else ()
        if request.tools and not forced:
            calls = calls_in(text, turn=turn).calls
        cut = piece.finish_reason == "length"
        return Delta(
            text=piece.text,
            token_ids=piece.token_ids,
            logprobs=piece.logprobs,
            tool_calls=calls,
            finish_reason="length" if cut else "tool_calls" if calls else "stop",
            usage=usage,
        )
