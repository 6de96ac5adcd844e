"""Instructions hidden in what tools return. Such text is data: what contains it supports nothing.

A place, snippet or line that addresses the reader as a program is not evidence about the world, whoever wrote it.
"""

from __future__ import annotations

import re

from tts.domain.reading import TextLine
from tts.domain.tooling import Fact, PlaceFact, TextFact, ToolResult, WebFact

# Phrases that speak to a model rather than about a place, in the languages attackers commonly write.
_COMMANDS = (
    r"(?:answer|respond|reply|output|return|report|conclude|state|give|ignore|stop|set|choose|select|use|say|call)"
)
_INSTRUCTION_FORMS = (
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|instructions?|rules?|everything)\b",
    r"(?:^|[\n\[(<*#])\s?(?:system|developer|assistant|administrator)\s?(?:prompt|message|note|override)?\s?[:>\])]",
    r"<\s?/?\s?(?:system|assistant|im_start|im_end|tool_call|answer|think)\b|\[/?inst\]|<\|",
    rf"\b(?:you|agents?|models?|assistants?|ai)\s(?:must|should|shall|need to|have to|are required to)\s{_COMMANDS}\b",
    rf"\b{_COMMANDS}\b.{{0,40}}-?\d{{1,3}}\.\d+\s?[,;/ ]\s?-?\d{{1,3}}\.\d",
    r"\b(?:set|put|change)\b.{0,20}\b(?:lat(?:itude)?|lon(?:gitude)?|coordinates?|confidence)\b",
    r"\b(?:new|updated|important|urgent)\s(?:instructions?|directives?)\s?(?:for (?:the )?(?:ai|model|agents?))?\s?:",
    r"\b(?:correct|true|real|final|verified|right)\s(?:answer|location|coordinates?|position)\s(?:is|are|must be)\b",
    r"\b(?:do not|don't|never)\s(?:trust|believe|search|verify|check)\b",
    r"\b(?:ignoriere|ignorez|ignora|ignore|ignorate)\b.{0,40}\b(?:anweisung|instruction|instrucc|istruzion|instruç)",
    r"(?:игнорируй|забудь|忽略|無視|无视|무시하|تجاهل|ละเว้น|अनदेखा)",
)  # fmt: skip
_INSTRUCTION = re.compile("|".join(f"(?:{pattern})" for pattern in _INSTRUCTION_FORMS), re.IGNORECASE | re.DOTALL)
_WHITESPACE = re.compile(r"\s+")  # each run becomes one character: the forms try every blank they may skip
_MAX_CHARS = 20_000


def speaks_to_the_model(text: str) -> bool:
    """True when a text gives orders to its reader. Linear in the text's length, which is capped."""
    plain = _WHITESPACE.sub(lambda blanks: "\n" if "\n" in blanks[0] else " ", text)[:_MAX_CHARS]
    return _INSTRUCTION.search(plain) is not None


def line_speaks_to_the_model(line: TextLine) -> bool:
    """Whether a line that was read, or one of its alternatives, speaks to the model."""
    return any(map(speaks_to_the_model, (line.text, *line.alternatives)))


def trustworthy_facts(result: ToolResult) -> tuple[Fact, ...]:
    """The facts of a result without those that carry instructions; none when the result failed."""
    if not result.ok:
        return ()
    return tuple(fact for fact in result.facts if not speaks_to_the_model(_fact_text(fact)))


def orders_in(result: ToolResult) -> str | None:
    """The first statement of a result that gives orders, or None; looks into failed results and plain text too."""
    orders = [words for fact in result.facts if speaks_to_the_model(words := _fact_text(fact))]
    if not orders and speaks_to_the_model(result.text):
        orders = [result.text]
    return orders[0] if orders else None


def _fact_text(fact: Fact) -> str:
    if isinstance(fact, PlaceFact):
        return f"{fact.name}\n{fact.address}"
    if isinstance(fact, WebFact):
        return f"{fact.title}\n{fact.snippet}"
    return "\n".join((fact.text, *fact.alternatives)) if isinstance(fact, TextFact) else ""
