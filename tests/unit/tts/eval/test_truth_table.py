import csv

import pytest

from tts.errors import DataError
from tts.eval.truth_table import join_truths


def write(path, header, *rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def truths(tmp_path):
    rows = [(f"{n}_owner@N00.jpg", "owner", n, 20, "Chad") for n in range(4)]
    return write(tmp_path / "im2gps3k_places365.csv", ("IMG_ID", "AUTHOR", "LAT", "LON", "country"), *rows)


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        (("IMG_ID", "LAT", "LON"), "0_owner@N00.jpg", "1_owner@N00.jpg"),
        (("image", "pred_lat", "pred_lon"), "images/0_owner@N00.JPG", "1_owner@N00"),
        (("filename", "latitude", "longitude"), "C:\\data\\0_owner@N00.jpg", "C:\\data\\1_owner@N00.png"),
        (("id", "lat_pred", "lng_pred"), "0_owner@N00", "1_owner@N00"),
    ],
)
def test_outputs_are_joined_by_the_name_of_the_photo(tmp_path, truths, header, first, second):
    outputs = write(tmp_path / "predictions.csv", header, (second, 1, 20), ("other.jpg", 5, 5), (first, 0, 21))
    joined = join_truths(outputs, truths)
    assert [number for number, _ in joined.rows] == [1, 3, 0, 0]
    assert joined.rows[0][1]["ground_truth"] == {"country": "Chad", "lat": 1.0, "lon": 20.0}
    assert (len(joined.missing), len(joined.unknown)) == (2, 1)
    assert "other" in joined.unknown[0]
    assert len(join_truths(outputs, truths, only_answered=True).rows) == 2


def test_a_photo_that_two_folders_name_alike_is_told_apart_by_the_folder(tmp_path):
    names = ["a/1.jpg", "b/1.jpg"]
    truths = write(tmp_path / "truths.csv", ("IMG_ID", "LAT", "LON"), *((name, n, n) for n, name in enumerate(names)))
    outputs = write(tmp_path / "outputs.csv", ("IMG_ID", "LAT", "LON"), ("b/1.jpg", 7, 7))
    ((number, row),) = join_truths(outputs, truths, only_answered=True).rows
    assert (number, row["ground_truth"]["lat"]) == (1, 1.0)


@pytest.mark.parametrize(
    ("header", "rows", "column", "message"),
    [
        (("IMG_ID", "LAT", "LON"), [("x.jpg", 1, 2)], None, "no photo in common.*'x.jpg'.*--by"),
        (("IMG_ID", "LAT", "LON"), [("0_owner@N00.jpg", 1, 2)] * 2, None, "two rows for '0_owner@N00.jpg', 1 and 2"),
        (("LAT", "LON"), [(1, 2)], None, "does not say which photo a row is of"),
        (("IMG_ID", "LAT", "LON"), [("", 1, 2)], None, "row 1 does not say which photo"),
        (("IMG_ID", "LAT", "LON"), [("x.jpg", 1, 2)], "photo_key", "no column 'photo_key'; it has img_id, lat, lon"),
        (("IMG_ID", "LAT", "LON"), [], None, "has no rows"),
    ],
)
def test_tables_that_cannot_be_joined_are_refused(tmp_path, truths, header, rows, column, message):
    outputs = write(tmp_path / "predictions.csv", header, *rows)
    with pytest.raises(DataError, match=message):
        join_truths(outputs, truths, column=column)
