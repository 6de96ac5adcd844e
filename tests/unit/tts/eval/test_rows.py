"""Tables as spreadsheets, pandas and people write them."""

import gzip
import io
import zipfile

import pytest

from tts.errors import DataError
from tts.eval.rows import read_rows
from tts.eval.score import score_file

TABLE = "place,gt_lat,gt_lon,pred_lat,pred_lon\nZürich,47.37,8.54,47.37,8.54\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", TABLE.encode("utf-8-sig")),
        ("a.csv", TABLE.encode("utf-16")),
        ("a.csv", TABLE.replace("\n", "\r\n").encode()),
        ("a.csv", TABLE.replace("\n", "\r").encode()),
        ("a.csv", TABLE.replace(",", ";").encode()),
        ("a.csv", ("sep=;\r\n" + TABLE.replace(",", ";")).encode()),
        ("a.csv", TABLE.replace(",", ";").replace(".", ",").encode()),
        ("a.csv", TABLE.replace(",", "\t").encode()),
        ("a.tsv", TABLE.replace(",", "\t").encode()),
        ("a.csv", TABLE.replace("place", "place a;b;c;d;e;f").encode()),
        ("a.tsv", TABLE.replace(",", "\t").replace("place", "place, street, country, or so, if any").encode()),
        ("a.csv", TABLE.replace(",", ";").replace("place", "place, street, country, or so, if any").encode()),
        ("a.csv", TABLE.replace("Zürich", "a;b;c;d\te\tf\tg\th|i").encode()),
        ("a.csv", TABLE.replace("Zürich", '"Zürich\n""HB"", north"').encode()),
        ("a.csv", TABLE.replace("Zürich,47.37,8.54", 'Zürich,"47,37","8,54"').encode()),
        ("a.csv", TABLE.replace("47.37,8.54\n", "47°22′12″N,8°32′24″E\n").encode()),
        ("a.csv", (TABLE + ",,,,\n\n").encode()),
        ("a.csv", TABLE.replace("8.54\n", "8.54,,\n").encode()),
        ("a.csv", b'gt,pred_lat,pred_lon\n"(47.37, 8.54)",47.37,8.54\n'),
        ("a.jsonl", b'\xef\xbb\xbf{"gt_lat": 47.37, "gt_lon": 8.54, "guess": {"lat": 47.37, "lng": 8.54}}\n'),
        ("a.json", b'[{"actual": {"lat": 47.37, "lng": 8.54}, "pred_lat": 47.37, "pred_lon": 8.54, "loss": NaN}]'),
        ("a.jsonl", b'{"gt": [47.37, 8.54], "prediction": {"type": "Point", "coordinates": [8.54, 47.37]}}\n'),
    ],
)
def test_a_table_is_scored_however_it_was_written(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    score = score_file(tmp_path / name)
    assert (score.n, score.unparsed, score.acc[0]) == (1, 0, 100.0)


def _zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", TABLE)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", TABLE.encode("cp1252"), "not a UTF-8 table.*iconv -f WINDOWS-1252"),
        ("a.csv", b"gt_lat,gt_lon,pred_lat,pred_lon\n48,85,2,35,48,85,2,35\n", "line 2 has 8 fields, the header has 4"),
        ("a.csv", TABLE.replace("Zürich", "Zürich, HB").encode(), "must stand in double quotes"),
        ("a.csv", b"lat,lon,lat,lon\n1,2,3,4\n", "two columns named 'lat'"),
        ("a.zip", _zipped(), "ZIP archive or an Excel workbook: unpack it"),
        ("a.xlsx", _zipped(), "save the sheet as CSV"),
        ("a.csv.gz", gzip.compress(TABLE.encode()), "packed with gzip: unpack it"),
        ("a.txt", TABLE.encode(), r"line 1 is not JSON.*must end in \.csv"),
        ("a.csv", b"gt_lat,gt_lon,pred_lat,pred_lon\n151.2,-33.8,1,1\n", "latitude and longitude exchanged"),
        ("a.csv", b"gt_lat,gt_lon,pred_lat,pred_lon\n1,1,1,1\n,,1,1\n", "row 2 has no true position: its latitude or"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_what_to_do(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        score_file(tmp_path / name)


def test_values_stay_under_the_names_of_the_header(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c\n1,2\n")
    assert list(read_rows(tmp_path / "a.csv")) == [{"a": "1", "b": "2", "c": None}]
