"""A vLLM that plays pieces of text, and a clock of GPU time."""

from tts.inference.vllm.seam import EngineStats, Piece
from tts.ports.toolbox import ToolSchema

SEARCH = ToolSchema(
    name="search",
    description="Search.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "kind": {"anyOf": [{"enum": ["city", "road"], "type": "string"}, {"type": "null"}]},
            "limit": {"$ref": "#/$defs/Limit"},
        },
        "$defs": {"Limit": {"type": "integer", "minimum": 1, "maximum": 9}},
    },
)


class Letters:
    end_of_turn = 0
    lists_tools = True

    def render(self, messages, tools):
        return f"{len(tools or ())}|" + "|".join(f"{m['role']}:{m['content']}" for m in messages)

    def encode(self, text):
        return [ord(letter) for letter in text]


class Seam:
    """Plays pieces; keeps what it was given."""

    block_size = 16

    def __init__(self, *texts, finish="stop", preemptions=()):
        self.texts = texts or ("hello ", "world")
        self.finish = finish
        self.preemptions = preemptions or [0] * len(self.texts)
        self.tokenizer = Letters()
        self.stats = EngineStats()
        self.unfinished = 0
        self.given = []
        self.gpus = 0
        self.closed = 0

    async def generate(self, generation):
        self.given.append(generation)
        self.unfinished += 1
        try:
            for i, text in enumerate(self.texts):
                last = i + 1 == len(self.texts)
                ids = tuple(ord(letter) for letter in text)
                yield Piece(
                    text,
                    ids,
                    self.finish if last else None,
                    cached_tokens=32,
                    prompt_tokens=50,
                    preemptions=self.preemptions[i],
                )
        finally:
            self.unfinished -= 1

    def check(self):
        return None

    def close(self):
        self.closed += 1


async def deltas_of(model, request):
    return [delta async for delta in model.generate(request)]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now
