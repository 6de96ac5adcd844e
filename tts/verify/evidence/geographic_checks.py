"""Checks the claims of a rollout against geographic facts: borders, seas, telephone prefixes, names, citations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tts.clues.clue import list_countries
from tts.clues.line_languages import TEXT_IS_IN
from tts.clues.signals import Signal, language_signals, signals_in
from tts.decision_weights import weights
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.tooling import PlaceFact, ToolResult
from tts.domain.trajectory import Trajectory
from tts.geodata.english_names import country_name
from tts.geodata.names import normalise
from tts.verify.evidence.evidence_sources import Source, is_distinctive, statement_of
from tts.verify.evidence.ledger import Finding, LedgerEntry
from tts.verify.evidence.prompt_injection import speaks_to_the_model
from tts.verify.evidence.world import BORDER_KM, World

_MAX_TOWN_KM = weights("checks")["town_elsewhere_km"]
_MIN_WELL_KNOWN_PEOPLE = weights("checks")["well_known_people"]


def place_checks(best: Hypothesis, point: LatLon, world: World) -> Iterator[LedgerEntry]:
    """Country named against country at the point, and points in the sea."""
    stated_country = world.countries.find(best.country) or world.countries.get(best.country_code)
    if world.at_sea(point):
        yield LedgerEntry(about="sea", claim=f"{point} is in the sea", finding=Finding.CONTRADICTED)
    elif stated_country is not None:
        inside = world.lies_in(point, stated_country.code)
        finding = Finding.SUPPORTED if inside else Finding.CONTRADICTED
        where = world.country_near(point)
        lies = f"the point lies in {where.name if where else 'no country'}"
        agrees = where is not None and where.code == stated_country.code
        claim = f"{lies}, as the answer says" if agrees else f"{lies}, but the answer says {stated_country.name}"
        yield LedgerEntry(about="country", claim=claim, finding=finding)
    if best.city and world.place_named(best.city, point, within_km=_MAX_TOWN_KM) is None:
        known = world.gazetteer.search(best.city, kinds=["city"], limit=1, fuzzy=False)
        if known and known[0].place.population >= _MIN_WELL_KNOWN_PEOPLE:
            claim = f"{best.city} is not at this point"
            yield LedgerEntry(about="name", claim=claim, finding=Finding.CONTRADICTED)


def signal_checks(best: Hypothesis, point: LatLon, read: list[str], world: World) -> Iterator[LedgerEntry]:
    """Telephone prefixes, postcodes, scripts and domains in the photo, and languages the rollout names."""
    texts = [f"{claim.text} {claim.quote}" for claim in best.claims if not speaks_to_the_model(claim.text)]
    found = list(signals_in(read, world.countries))
    found += [signal for signal in signals_in(texts, world.countries) if signal.kind in ("phone", "postcode")]
    found += [signal for text in _texts_about_languages(best) for signal in language_signals(text, world.countries)]
    by_kind: dict[str, list[Signal]] = {}
    for signal in found:
        by_kind.setdefault(signal.kind, []).append(signal)
    for kind, signals in by_kind.items():
        fitting = _fitting_signals(signals, point, world, tolerance_km=1.0)
        shown_signal = (fitting or signals)[0]
        if fitting:
            finding = Finding.SUPPORTED
        else:  # borders and coasts are drawn coarsely: what just misses is neither for nor against
            finding = Finding.UNSUPPORTED if _fitting_signals(signals, point, world) else Finding.CONTRADICTED
        claim = f"“{shown_signal.text}” points to {list_countries(sorted(shown_signal.countries))}"
        yield LedgerEntry(about=kind, claim=claim, finding=finding, quote=shown_signal.text)


def _texts_about_languages(best: Hypothesis) -> Iterator[str]:
    """What a rollout says about languages. One that states the lines it read has taken their language from them, so
    that its own sentence about it is no further witness; what it quotes is."""
    for claim in best.claims:
        if not speaks_to_the_model(claim.text):
            derived = best.read and claim.text.startswith(TEXT_IS_IN)
            yield claim.quote if derived else f"{claim.text} {claim.quote}"


def _fitting_signals(
    signals: list[Signal], point: LatLon, world: World, *, tolerance_km: float = BORDER_KM
) -> list[Signal]:
    return [s for s in signals if any(world.lies_in(point, code, tolerance_km=tolerance_km) for code in s.countries)]


def name_checks(best: Hypothesis, sources: list[Source], read: list[str]) -> Iterator[LedgerEntry]:
    """Each name of the answer, and the first statement that contains it."""
    for name in (best.place, best.city):
        key = normalise(name)
        if not is_distinctive(key):
            continue
        source = next((s for s in sources if not s.is_echo and _contains_text(s, key)), None)
        line = next((line for line in read if key in normalise(line)), None)
        if source is not None:
            yield source.entry("name", name, Finding.SUPPORTED, statement_of(source.fact))
        elif line is not None:
            yield LedgerEntry(about="name", claim=name, finding=Finding.SUPPORTED, quote=line)
        else:
            yield LedgerEntry(about="name", claim=name, finding=Finding.UNSUPPORTED)


def check_citation(claim: Claim, trajectory: Trajectory, sources: list[Source], read: list[str]) -> LedgerEntry:
    """A claim the rollout itself listed: does the call it names exist, and does it say so?"""
    results = {result.call_id: result for result in trajectory.results}
    result = results.get(claim.call_id or "")
    own_sources = [source for source in sources if source.result.call_id == claim.call_id]
    if result is not None and result.ok and own_sources:
        statement = normalise(" ".join(statement_of(source.fact) for source in own_sources) + " " + result.text)
        quote = normalise(claim.quote)
        supported = quote in statement if is_distinctive(quote) else _shares_a_name(claim.text, statement)
        finding = Finding.SUPPORTED if supported else Finding.UNSUPPORTED
        return _citation_entry(claim, result, own_sources, finding)
    quoted = normalise(claim.quote)
    line = next((line for line in read if is_distinctive(quoted) and quoted in normalise(line)), None)
    finding = Finding.SUPPORTED if line is not None else Finding.UNSUPPORTED
    return LedgerEntry(about="cited", claim=claim.text, finding=finding, call_id=claim.call_id, quote=claim.quote)


def _citation_entry(claim: Claim, result: ToolResult, own_sources: list[Source], finding: Finding) -> LedgerEntry:
    """The entry with the statement that the claim quotes, or else with the one it names, quoted in its own words. Where
    a result has several, the first one is not what the claim is about."""
    quote = normalise(claim.quote)
    quoting = [s for s in own_sources if quote and _contains_text(s, quote)]
    if quoting:  # of namesakes the one in the country that the claim names
        quoted = next((s for s in quoting if _names_country_of(s, claim.text)), quoting[0])
        return quoted.entry("cited", claim.text, finding, claim.quote)
    text = f" {normalise(claim.text)} "
    named = next(
        (s for s in own_sources if isinstance(s.fact, PlaceFact) and f" {normalise(s.fact.name)} " in text), None
    )
    named = named or (own_sources[0] if len(own_sources) == 1 else None)
    if named is not None:
        differs = f"; the photo or the call reads “{claim.quote}”" if quote else ""
        return named.entry("cited", f"{claim.text}{differs}", finding, statement_of(named.fact))
    return LedgerEntry(
        about="cited",
        claim=claim.text,
        finding=finding,
        call_id=result.call_id,
        tool=result.name,
        quote=claim.quote,
        retrieved_at=result.retrieved_at,
        of_own_point=all(source.is_about_own_point for source in own_sources),
    )


def _names_country_of(source: Source, text: str) -> bool:
    """Whether a claim names the country of a source's place, by its code or its English name."""
    code = getattr(source.fact, "country_code", "")
    return bool(code) and (code in text.split() or country_name(code) in text)


def _contains_text(source: Source, key: str) -> bool:
    """Whether a statement has a normalised text, as whole words where its script has any."""
    statement = normalise(statement_of(source.fact))
    return f" {key} " in f" {statement} " if key.isascii() else key in statement


def _shares_a_name(text: str, statement: str) -> bool:
    """A capitalised or non-Latin word of the claim stands in the statement."""
    names = [word for word in re.findall(r"\w{4,}", text) if word[0].isupper() or not word.isascii()]
    return any(normalise(name) in statement for name in names)
