"""Turns lines of text into clues and mentions. This is the entry point of the package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tts.clues.belief import Weigher
from tts.clues.clue import Clue, ClueKind
from tts.clues.country_words import wording_clues
from tts.clues.line_languages import LanguageReader
from tts.clues.line_trust import LineTrust
from tts.clues.lookups import Lookup, LookupReader
from tts.clues.mentions import Mention, MentionReader, distinct_mentions, phone_town
from tts.clues.name_frequencies import NameFrequencies
from tts.clues.numbers import number_clues
from tts.clues.rule import RULES, Rule
from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.lexicon import Lexicon
from tts.geodata.names import normalise

_NAMED_TOWN_KM = weights("belief")["named_km"]


@dataclass(frozen=True, slots=True)
class Leads:
    """All that some lines of text offer."""

    clues: tuple[Clue, ...]
    mentions: tuple[Mention, ...]

    def names(self, point: LatLon) -> bool:
        """Whether a name of a place at this point was read."""
        return any(
            match.place.kind != "country" and distance_km(match.place.point, point) <= _NAMED_TOWN_KM
            for mention in self.mentions
            for match in mention.matches
        )


class ClueReader:
    """Holds gazetteer, lexicon and tables. About 1 ms a line; deterministic. `rules` against misleading lettering are
    those that it keeps."""

    def __init__(
        self, gazetteer: Gazetteer, lexicon: Lexicon, countries: Countries, rules: frozenset[Rule] = RULES
    ) -> None:
        self.gazetteer = gazetteer
        self._lexicon = lexicon
        self.countries = countries
        self.weigher = Weigher(gazetteer, countries)
        names = NameFrequencies(gazetteer, lexicon, self.weigher.priors)
        self._languages = LanguageReader(lexicon, countries, rules, names.name_use)
        self._mentions = MentionReader(gazetteer, lexicon, names, rules)
        self.lines = LineTrust(gazetteer, lexicon)
        self._lookups = LookupReader(self._mentions, gazetteer, self.lines.is_familiar)

    def zipf_of_name(self, name: str) -> float:
        """How frequent the rarest word of a name is in ordinary text: its Zipf value, 0 for no word."""
        return min((self._lexicon.zipf(word) for word in normalise(name).split()), default=0.0)

    def leads(
        self,
        lines: Mapping[str, float],
        lookups: Iterable[Lookup] = (),
        *,
        beside: Mapping[str, Iterable[str]] | None = None,
        without: frozenset[ClueKind] = frozenset(),
    ) -> Leads:
        """Clues and mentions of lines and how far each is trusted, in [0, 1], and of what tools were asked for them and
        answered. `beside` has the lines above and below each (`LineTrust.neighbours_of_lines`); `without` leaves kinds
        out."""
        texts = list(lines)
        clues: list[Clue] = []
        for text, trust in lines.items():
            found = [*wording_clues(text, self.countries, self._lexicon), *number_clues(text, self.countries)]
            clues += [clue.with_trust(trust) for clue in found]
        language = self._languages.clue(lines)
        clues += [language] if language is not None else []
        mentions = list(self._mentions.mentions(texts, beside))
        for clue in clues:
            if clue.kind is ClueKind.PHONE and clue.quote.startswith("+"):
                town = phone_town(clue.quote, self.gazetteer)
                mentions += [town] if town is not None else []
        mentions += self._lookups.mentions(lookups, texts, mentions)
        mentions = distinct_mentions(mentions)
        kept = tuple(clue for clue in clues if clue.kind not in without)
        return Leads(kept, () if ClueKind.PLACE in without else tuple(mentions))
