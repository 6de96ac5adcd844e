"""Number plates by their national forms. Most forms are shared by countries; a rarer form is a stronger clue.

Forms are public facts; the weights (nats against every other country) are the project's own, set by hand on 2026-11-21
in steps of a half: about 6 for a form nobody else has, 7 with letters of one country's script or its states, 2 for one
that half a dozen countries use. They stand beside the forms: twelve grades have no better names than their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tts.clues.clue import Clue, ClueKind, listed
from tts.decision_weights import weights as weights_of

_LONGEST = 16
_LONGEST_GROUP = 3
_LEAST_DIGITS = 2
_INDIAN_STATES = (
    "AN|AP|AR|AS|BR|CG|CH|DD|DL|DN|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|OR|PB|PY|RJ|SK|TN|TR|TS|UK|UP|WB"
)
_CANTONS = "AG|AI|AR|BE|BL|BS|FR|GE|GL|GR|JU|LU|NE|NW|OW|SG|SH|SO|SZ|TG|TI|UR|VD|VS|ZG|ZH"
_IRISH = "C|CE|CN|CW|D|DL|G|KE|KK|KY|L|LD|LH|LK|LM|LS|MH|MN|MO|OY|SO|T|TN|TS|W|WD|WH|WW|WX"
_SERBIAN = "BG|NS|NI|KG|SU|ZR|PA|KI|KV|SM|SD|VA|VR|ZA|LE|PI|PO|PB|UE|TS|SA|BO|NP|PZ|JA|AR|BT|RU"
_CROATIAN = "ZG|ST|RI|OS|ZD|DU|PU|VŽ|KA|SK|SB|BJ|KC|KR|VK|VU|ŠI|ČK|GS|VT|KŽ|MA|NA|NG|PŽ|DJ|DE|DA|IM|OG|SL|ŽU"
_SLOVENIAN = "LJ|MB|CE|KP|KR|NM|NG|MS|SG|PO|KK|GO"
_LOOKS_GREEK = "ABEZHIKMNOPTYXΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
_LOOKS_CYRILLIC = "ABEKMHOPCTYXАВЕКМНОРСТУХІ"
_FORMS: tuple[tuple[str, str, float], ...] = (
    (r"[A-Z]{2}-\d{3}-[A-Z]{2}", "FR GE", 4.5),
    (r"[A-Z]{2} \d{3} [A-Z]{2}", "IT AL AR", 4.0),
    (r"[A-Z]{2}\d{3}[A-Z]{2}", "IT FR AL AR SK", 3.5),
    (r"[A-Z]{2}\d{2} ?[A-Z]{3}", "GB", 5.5),
    (rf"\d{{2,3}}-(?:{_IRISH})-\d{{1,6}}", "IE", 6.0),
    (r"[A-ZÄÖÜ]{1,3}[ :·-][A-Z]{1,2} ?\d{1,4}[EH]?", "DE", 4.0),
    (r"[A-Z]{1,2}[ -]\d{3,5} ?[A-Z]{1,2}", "AT", 3.5),
    (rf"(?:{_CANTONS})[ ·-]?\d{{3,6}}", "CH", 4.0),
    (r"[A-Z]{2}-\d{3}-[A-Z]|[A-Z]-\d{3}-[A-Z]{2}|\d{2}-[A-Z]{3}-\d", "NL", 5.5),
    (r"\d-[A-Z]{3}-\d{2}|\d{2}-[A-Z]{2}-[A-Z]{2}", "NL", 5.5),
    (r"[A-Z]{2}-\d{2}-[A-Z]{2}", "NL PT", 4.5),
    (r"\d{2}-[A-Z]{2}-\d{2}|\d{2}-\d{2}-[A-Z]{2}", "PT NL", 4.0),
    (r"[A-Z]{2} \d{2} [A-Z]{2}", "PT", 5.0),
    (r"[12]-[A-Z]{3}-\d{3}", "BE", 6.0),
    (r"[A-Z]{2} ?\d{4}", "LU HK MY", 2.0),
    (r"[A-Z]{2} \d{2} \d{3}", "DK", 5.5),
    (r"[A-Z]{2} ?\d{5}", "NO PL DK", 4.0),
    (r"[A-Z]{3} ?\d{4}[A-Z]?", "PL UY PH MY", 2.5),
    (r"[A-Z]{2,3} [A-Z0-9]{5}", "PL", 1.5),
    (r"[A-Z]{3} ?\d{2}[A-Z0-9]", "SE", 4.0),
    (r"[A-Z]{3} ?\d{3}", "SE LT AR NZ CO AU CY MD", 2.5),
    (r"[A-Z]{2,3}-\d{1,3}", "FI HU PE PK", 3.0),
    (r"[A-Z]{2} [A-Z]{2}[ -]\d{3}", "HU", 6.0),
    (r"\d{3} ?[A-Z]{3}", "EE AU CR", 2.5),
    (r"[A-Z]{2}-\d{4}", "LV PK LK", 3.0),
    (r"\d{4} ?[BCDFGHJKLMNPRSTVWXYZ]{3}", "ES BO", 4.5),
    (r"\d{4} ?[A-Z]{3}", "ES BO", 3.0),
    (r"\d[A-Z]\d ?\d{4}", "CZ", 6.0),
    (r"[A-Z]{2}[ -]\d{3} ?[A-Z]{2}", "SK", 3.0),
    (r"(?:B \d{2,3}|[A-Z]{2} \d{2}) [A-Z]{3}", "RO", 5.5),
    (rf"[{_LOOKS_CYRILLIC}]{{1,2}} ?\d{{4}} ?[{_LOOKS_CYRILLIC}]{{2}}", "BG UA", 4.0),
    (r"[A-Z]{2} ?\d{4} ?[A-Z]{2}", "UA MK", 3.0),
    (rf"(?:{_SERBIAN})[ -]\d{{3,4}}[ -]?[A-ZČŠŽĐĆ]{{2}}", "RS", 4.5),
    (rf"(?:{_CROATIAN})[ -]\d{{3,4}}[ -][A-Z]{{1,2}}", "HR", 4.5),
    (rf"(?:{_SLOVENIAN}) (?:[A-Z0-9]{{2}}[ -][A-Z]{{3}}|[A-Z0-9]{{2}}-\d{{3}})", "SI", 4.5),
    (r"[AEJKMOT]\d{2}-[AEJKMOT]-\d{3}", "BA", 6.5),
    (rf"[{_LOOKS_GREEK}]{{3}}[ -]?\d{{4}}", "GR", 5.0),
    (r"(?:0[1-9]|[1-7]\d|8[01]) ?[A-Z]{1,3} ?\d{2,4}", "TR", 4.0),
    (r"[ABEKMHOPCTYXАВЕКМНОРСТУХ]\d{3}[ABEKMHOPCTYXАВЕКМНОРСТУХ]{2} ?\d{2,3}", "RU", 6.0),
    (r"\d{4} [A-ZАВЕКМНОРСТХІ]{2}-[1-7]", "BY", 6.5),
    (r"\d{3} [A-Z]{3} (?:0[1-9]|1\d|20)", "KZ", 6.0),
    (r"\d{2} (?:KG )?\d{3} [A-Z]{3}", "KG", 5.5),
    (r"\d{2} [A-Z] \d{3} [A-Z]{2}", "UZ", 6.0),
    (r"\d{2,3} [A-Z]{2} \d{3}|\d{3} [A-Z]{2} \d{2}", "AM", 5.5),
    (r"\d{2}-[A-Z]{2}-\d{3}", "AZ", 6.0),
    (rf"(?:{_INDIAN_STATES})[ -]?\d{{1,2}}[ -]?[A-Z]{{1,3}}[ -]?\d{{4}}", "IN", 7.0),
    (r"(?:WP|CP|SP|NP|EP|NW|NC|UP|SG) ?[A-Z]{2,3}[ -]\d{4}", "LK", 6.5),
    (r"[\u4e00-\u9fff]{2,4} ?\d{2,3} ?[\u3041-\u3096] ?[\d·]{1,2}-?\d{2}", "JP", 7.0),
    (r"(?:[\uac00-\ud7a3]{2})?\d{2,3} ?[\uac00-\ud7a3] ?\d{4}", "KR", 7.0),
    (r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z][·.\- ]?[A-Z0-9]{5,6}", "CN", 7.0),
    (r"[A-Z]{3}-\d{4}", "TW EC BR PH", 3.5),
    (r"\d{2}[A-Z]\d?[ -]?\d{3}\.?\d{2}", "VN", 6.0),
    (r"\d?[\u0e01-\u0e2e]{2} ?\d{1,4}", "TH", 7.0),
    (r"[A-Z]{1,2} \d{1,4} [A-Z]{1,3}", "ID", 4.0),
    (r"S[A-Z]{2} ?\d{1,4} ?[A-Z]", "SG", 5.0),
    (r"[A-Z]{3}\d[A-Z]\d{2}", "BR", 6.5),
    (r"[BCDFGHJKLPRSTVWXYZ]{2}[·. -][BCDFGHJKLPRSTVWXYZ]{2}[·. -]\d{2}", "CL", 5.5),
    (r"[A-Z]\d[A-Z]-\d{3}", "PE", 5.5),
    (r"[A-Z]{3}-\d{2}-\d{2}|[A-Z]{3}-\d{3}-[A-Z]|[A-Z]{2}-\d{2}-\d{3}", "MX", 5.0),
    (r"[A-Z]{3}-\d{2}[A-Z]|\d[A-Z]{2} ?\d[A-Z]{2}", "AU", 4.5),
    (r"[A-Z]{2,3} ?\d{2,3} ?(?:[A-Z]{2} ?)?(?:GP|MP|EC|NW|NC|FS)", "ZA", 5.5),
    (r"K[A-Z]{2} ?\d{3}[A-Z]", "KE", 5.5),
    (r"U[A-Z]{2} ?\d{3}[A-Z]", "UG", 5.5),
    (r"T ?\d{3} [A-Z]{3}", "TZ", 5.5),
    (r"R[A-Z]{2} ?\d{3} ?[A-Z]", "RW", 5.5),
    (r"[A-Z]{3}[ -]\d{3}[ -]?[A-Z]{2}", "NG", 5.5),
    (r"G[A-Z] \d{1,4}-\d{2}", "GH", 5.5),
    (r"\d{2} ?[\u0621-\u06cc] ?\d{3}(?: ?\d{2})?", "IR", 6.0),
)  # fmt: skip
_PLATES = tuple((re.compile(form), tuple(codes.split()), nats) for form, codes, nats in _FORMS)
_TRUST = weights_of("signs")["plate"]
_GROUP = re.compile(r"[^\W\d_]+")


def plate_clues(text: str) -> Iterator[Clue]:
    """One clue when a whole line has the form of a plate: countries by how much the form is their own."""
    plate = text.strip().strip("|[]")
    digits = sum(char.isdigit() for char in plate)
    if len(plate) > _LONGEST or digits < _LEAST_DIGITS or not any(char.isalpha() for char in plate):
        return
    nats: dict[str, float] = {}
    for form, codes, value in _PLATES:
        if form.fullmatch(plate):
            nats |= {code: max(_TRUST * value, nats.get(code, 0.0)) for code in codes}
    if nats:
        top = max(nats.values())
        weights = {code: value - top for code, value in nats.items()}
        named = listed(sorted(nats, key=lambda code: (-nats[code], code)))
        yield Clue(
            kind=ClueKind.PLATE, quote=plate, why=f"looks like a number plate of {named}", weights=weights, other=-top
        )


def is_code(text: str) -> bool:
    """Digits with short groups of capitals: a plate, a route, a model. Its letters are of no language."""
    groups = _GROUP.findall(text)
    return sum(char.isdigit() for char in text) >= _LEAST_DIGITS and all(
        len(group) <= _LONGEST_GROUP and group.isupper() for group in groups
    )
