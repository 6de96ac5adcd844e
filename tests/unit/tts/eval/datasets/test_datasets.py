import csv
import json
import time

import pytest
from PIL import ExifTags, Image
from support.basics import sign_bytes

from tts.domain.geo import LatLon, distance_km
from tts.errors import DataError
from tts.eval.datasets import DATASETS, load_dataset
from tts.eval.sample import LeftOut
from tts.geodata.datum import to_gcj02

PHOTO = sign_bytes("Here")
ROWS = [{"IMG_ID": f"{n}_owner@N00.jpg", "AUTHOR": "x", "LAT": 10.5 + n, "LON": 20.25} for n in range(3)]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_jsonl(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize(
    ("name", "table", "pictures"),
    [("im2gps3k", "im2gps3k_places365.csv", "im2gps3k"), ("yfcc4k", "yfcc4k.csv", "yfcc4k")],
)
def test_samples_are_read_from_a_csv_table_and_a_folder_of_pictures(tmp_path, name, table, pictures):
    write_csv(tmp_path / table, ROWS)
    (tmp_path / pictures).mkdir()
    for row in ROWS:
        (tmp_path / pictures / row["IMG_ID"]).write_bytes(PHOTO)
    samples = load_dataset(name, tmp_path, seed=4)
    assert {(s.truth.point.lat, s.truth.point.lon) for s in samples} == {(10.5, 20.25), (11.5, 20.25), (12.5, 20.25)}
    assert all(sample.load() == PHOTO for sample in samples)


def test_ids_are_random_in_the_name_and_stable_in_the_seed(tmp_path):
    write_csv(tmp_path / "yfcc4k.csv", ROWS)
    for row in ROWS:
        (tmp_path / row["IMG_ID"]).write_bytes(PHOTO)
    once, again = load_dataset("yfcc4k", tmp_path, seed=4), load_dataset("yfcc4k", tmp_path, seed=4)
    other = load_dataset("yfcc4k", tmp_path, seed=5)
    assert [s.id for s in once] == [s.id for s in again] == sorted(s.id for s in once)
    assert not {s.id for s in once} & {s.id for s in other}
    assert all("owner" not in sample.id and sample.key not in sample.id for sample in once)


def test_missing_pictures_are_counted_and_the_first_is_named(tmp_path):
    write_csv(tmp_path / "im2gps3k.csv", ROWS)
    with pytest.raises(DataError, match=r"3 pictures named in .*0_owner@N00\.jpg"):
        load_dataset("im2gps3k", tmp_path)


@pytest.mark.parametrize(
    ("named", "lies_at"),
    [
        ("1.jpg", "im2gps3ktest/1.JPG"),
        ("1.jpg", "im2gps3ktest/1.jpeg"),
        ("00/01/1.jpg", "yfcc_25600/00/01/1.jpg"),
        ("00\\01\\1.jpg", "images/00/01/1.jpg"),
        ("1", "images/test/03/1.png"),
    ],
)
def test_a_picture_is_found_where_it_was_unpacked(tmp_path, named, lies_at):
    write_csv(tmp_path / "table.csv", [{"IMG_ID": named, "LAT": 1, "LON": 2}])
    (tmp_path / lies_at).parent.mkdir(parents=True)
    (tmp_path / lies_at).write_bytes(PHOTO)
    (tmp_path / "00" / "02").mkdir(parents=True)
    (tmp_path / "00" / "02" / "11.jpg").write_bytes(b"another")
    for name in ("folder", "im2gps3k"):
        (sample,) = load_dataset(name, tmp_path)
        assert (sample.key, sample.load()) == (named, PHOTO)


def test_folders_with_pictures_of_the_same_names_are_read_in_linear_time(tmp_path):
    names = [f"{i}/0.jpg" for i in range(1000)]
    for name in names:
        (tmp_path / "train" / name).parent.mkdir(parents=True)
        (tmp_path / "train" / name).write_bytes(PHOTO)
    write_csv(tmp_path / "table.csv", [{"IMG_ID": name, "LAT": 1, "LON": 2} for name in names])
    start = time.perf_counter()
    assert len(load_dataset("folder", tmp_path)) == 1000
    assert time.perf_counter() - start < 3.0


def test_a_name_that_no_file_can_have_is_a_missing_picture(tmp_path):
    write_csv(tmp_path / "table.csv", [{"IMG_ID": "x" * 300, "LAT": 1, "LON": 2}])
    with pytest.raises(DataError, match="1 pictures named in"):
        load_dataset("folder", tmp_path)


def test_a_name_that_fits_two_pictures_is_refused(tmp_path):
    write_csv(tmp_path / "table.csv", [{"IMG_ID": "1.jpg", "LAT": 1, "LON": 2}])
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.jpg").write_bytes(PHOTO)
    with pytest.raises(DataError, match=r"'1\.jpg' may be .*a/1\.jpg or .*b/1\.jpg"):
        load_dataset("folder", tmp_path)


def test_osv5m_names_its_pictures_by_id(tmp_path):
    (tmp_path / "images" / "test" / "00").mkdir(parents=True)
    (tmp_path / "images" / "test" / "00" / "30917.jpg").write_bytes(PHOTO)
    row = {"id": 30917, "latitude": 1, "longitude": 2, "country": "FR", "region": "R", "sub-region": "S", "city": "C"}
    write_csv(tmp_path / "test.csv", [row])
    (sample,) = load_dataset("folder", tmp_path)
    assert (sample.key, sample.truth.city, sample.load()) == ("30917", "C", PHOTO)


def test_unusable_rows_are_counted_and_left_out_only_on_request(tmp_path):
    rows = [*ROWS, {**ROWS[0], "IMG_ID": "3.jpg", "LAT": "", "LON": ""}]
    write_csv(tmp_path / "im2gps3k.csv", rows)
    for row in (*rows[:2], rows[3]):
        (tmp_path / row["IMG_ID"]).write_bytes(PHOTO)
    counts = (
        r"1 pictures named in .*, first 2_owner@N00\.jpg; 1 rows of .* empty position, first 3\.jpg.*--skip-unusable"
    )
    with pytest.raises(DataError, match=counts):
        load_dataset("im2gps3k", tmp_path)
    told: list[LeftOut] = []
    samples = load_dataset("im2gps3k", tmp_path, skip_unusable=True, on_left_out=told.extend)
    assert {sample.key for sample in samples} == {row["IMG_ID"] for row in rows[:2]}
    assert [one.key for one in told] == ["2_owner@N00.jpg", "3.jpg"]


def test_a_position_out_of_range_is_never_left_out(tmp_path):
    write_csv(tmp_path / "im2gps3k.csv", [{**ROWS[0], "LAT": 151.2, "LON": -33.9}])
    (tmp_path / ROWS[0]["IMG_ID"]).write_bytes(PHOTO)
    with pytest.raises(DataError, match=r"row 1 has no true position: .*exchanged"):
        load_dataset("im2gps3k", tmp_path, skip_unusable=True)


def test_a_photo_with_two_rows_is_named(tmp_path):
    write_csv(tmp_path / "yfcc4k.csv", [*ROWS, ROWS[1]])
    for row in ROWS:
        (tmp_path / row["IMG_ID"]).write_bytes(PHOTO)
    with pytest.raises(DataError, match=r"1 photos twice, such as 1_owner@N00\.jpg"):
        load_dataset("yfcc4k", tmp_path)


def test_of_several_tables_none_is_chosen(tmp_path):
    for name in ("predictions.csv", "truths.csv"):
        write_csv(tmp_path / name, [{"image": "a.jpg", "lat": 1, "lon": 2}])
    (tmp_path / "a.jpg").write_bytes(PHOTO)
    with pytest.raises(DataError, match=r"2 tables: predictions\.csv, truths\.csv\. Give the path"):
        load_dataset("folder", tmp_path)
    assert len(load_dataset("folder", tmp_path / "truths.csv")) == 1


@pytest.mark.parametrize(("name", "digest"), [("folder", ""), ("geobench", ""), ("folder", "-b513d9e388d56453")])
def test_all_shards_of_a_table_are_read(tmp_path, name, digest):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "data").mkdir()
    shards = [tmp_path / "data" / f"train-0000{n}-of-00002{digest}.parquet" for n in range(2)]
    for n, shard in enumerate(shards):
        rows = [{"image": {"bytes": PHOTO, "path": None}, "latitude": 10.0 * n + i, "longitude": 2.0} for i in range(2)]
        parquet.write_table(arrow.Table.from_pylist(rows), shard)
    assert sorted(sample.truth.point.lat for sample in load_dataset(name, tmp_path)) == [0, 1, 10, 11]
    assert len(load_dataset(name, shards[1])) == 2
    shards[0].rename(shards[0].with_name("test-00000-of-00001.parquet"))
    with pytest.raises(DataError, match=r"2 tables: .*files of one split into a folder of their own"):
        load_dataset(name, tmp_path)
    (tmp_path / "data" / "test-00000-of-00001.parquet").unlink()
    with pytest.raises(DataError, match="1 of the 2 files of train"):
        load_dataset(name, tmp_path)


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("photos.json", json.dumps([{"image": "a.jpg", "lat": 1, "lng": 2}])),
        ("photos.json", json.dumps({"a.jpg": {"lat": 1, "lng": 2}})),
        ("photos.tsv", "image\tlat\tlng\na.jpg\t1\t2\n"),
        ("metadata.csv", "file_name;lat;lng\na.jpg;1,0;2,0\n"),
    ],
)
def test_a_folder_has_its_labels_in_any_table(tmp_path, table, rows):
    (tmp_path / "a.jpg").write_bytes(PHOTO)
    (tmp_path / table).write_text(rows)
    (sample,) = load_dataset("folder", tmp_path)
    assert (sample.key, sample.truth.point) == ("a.jpg", LatLon(lat=1, lon=2))


@pytest.mark.parametrize("name", DATASETS)
def test_an_empty_folder_is_refused_with_what_it_needs(tmp_path, name):
    with pytest.raises(DataError, match=r"need(s|ed)"):
        load_dataset(name, tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        load_dataset(name, tmp_path / "nowhere")


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(DataError, match="im2gps3k"):
        load_dataset("imagenet", tmp_path)


def test_mapbench_truths_are_converted_to_wgs84_and_parts_are_tagged(tmp_path):
    spot = LatLon(lat=36.0868, lon=120.3791)
    shifted = to_gcj02(spot)
    truth = {"lat": shifted.lat, "lon": shifted.lon, "city": "青岛", "country": "中国", "image": "images/a.jpg"}
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.jpg").write_bytes(PHOTO)
    write_jsonl(tmp_path / "test.jsonl", [{"index": 0, "ground_truth": truth, "extra_info": {"difficulty": "Hard"}}])
    (sample,) = load_dataset("mapbench", tmp_path)
    assert distance_km(sample.truth.point, spot) < 1e-5
    assert (sample.truth.city, sample.tags) == ("青岛", ("hard",))


def test_samples_are_read_from_parquet_with_pictures_in_it(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {
            "data_source": "IMAGEO_2",
            "images": [{"bytes": PHOTO, "path": f"{i}.jpg"}],
            "reward_model": {"ground_truth": {"lat": 1.5, "lon": 2.5 + i, "city": "C", "country": "Ghana"}},
        }
        for i in range(2)
    ]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "imageo2_test.parquet")
    samples = load_dataset("imageo2_test", tmp_path)
    assert {s.truth.point.lon for s in samples} == {2.5, 3.5}
    assert {s.tags for s in samples} == {("part:imageo_2",)}
    assert samples[0].load() == PHOTO


def test_geobench_keeps_its_truth_in_a_json_column(tmp_path):
    (tmp_path / "raw_image" / "u1").mkdir(parents=True)
    (tmp_path / "raw_image" / "u1" / "p.jpg").write_bytes(PHOTO)
    metadata = {"lat": 59.9, "lng": 10.75, "city_name": "Oslo", "multi_level_loc_dict": {"country": "Norway"}}
    row = {"id": "u1", "raw_image_path": "raw_image/u1/p.jpg", "metadata": json.dumps(metadata), "data_type": "photo"}
    write_jsonl(tmp_path / "test.jsonl", [row])
    (sample,) = load_dataset("geobench", tmp_path)
    assert (sample.truth.country, sample.truth.city, sample.tags) == ("Norway", "Oslo", ("type:photo",))


def test_geoseek_rates_locatability(tmp_path):
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(PHOTO)
    rows = [{"image": "a.jpg", "lat": 1, "lng": 2, "locatability": 8}, {"image": "b", "lat": 1, "lng": 2}]
    (tmp_path / "val.json").write_text(json.dumps(rows))
    assert {s.tags for s in load_dataset("geoseek_val", tmp_path)} == {("locatable", "rating:8"), ()}


@pytest.mark.parametrize(
    ("rated", "tags"),
    [
        (0, ("hardly_locatable", "rating:1")),
        (0.4, ("hardly_locatable", "rating:1")),
        (4.01, ("hardly_locatable", "rating:5")),
        (5, ("locatable", "rating:5")),
        ("9.5", ("locatable", "rating:10")),
        (10, ("locatable", "rating:10")),
        (12, ("locatable", "rating:10")),
        ("unknown", ()),
    ],
)
def test_geoseek_has_ten_bins_of_ratings(tmp_path, rated, tags):
    (tmp_path / "a.jpg").write_bytes(PHOTO)
    (tmp_path / "val.json").write_text(json.dumps([{"image": "a.jpg", "lat": 1, "lng": 2, "locatability": rated}]))
    (sample,) = load_dataset("geoseek_val", tmp_path)
    assert sample.tags == tags


def test_street_view_text_needs_geocoded_addresses(tmp_path):
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "14_03.jpg").write_bytes(PHOTO)
    (tmp_path / "test.xml").write_text(
        "<tagset><image><imageName>img/14_03.jpg</imageName><address>Portland OR</address></image></tagset>"
    )
    with pytest.raises(DataError, match=r"locations\.csv"):
        load_dataset("street_view_text", tmp_path)
    write_csv(tmp_path / "locations.csv", [{"image": "14_03.jpg", "lat": 45.52, "lon": -122.68, "city": "Portland"}])
    (sample,) = load_dataset("street_view_text", tmp_path)
    assert (sample.truth.city, sample.truth.country) == ("Portland", "United States")


def test_samples_are_read_from_a_folder_with_labels(tmp_path):
    (tmp_path / "a.jpg").write_bytes(PHOTO)
    label = {"id": "x", "file": "a.jpg", "lat": 1.0, "lon": 2.0, "accuracy_radius_m": 1500, "country": "Chile",
             "has_legible_text": True, "difficulty": "hard"}  # fmt: skip
    write_jsonl(tmp_path / "labels.jsonl", [label])
    (sample,) = load_dataset("folder", tmp_path)
    assert sample.truth.slack_km == 1.5
    assert sample.tags == ("text", "difficulty:hard")


def geotagged(path, lat, lon):
    picture = Image.new("RGB", (32, 32))
    exif = Image.Exif()
    exif.get_ifd(ExifTags.IFD.GPSInfo).update({
        ExifTags.GPS.GPSLatitudeRef: "S" if lat < 0 else "N",
        ExifTags.GPS.GPSLatitude: (abs(int(lat)), 30.0, 0.0),
        ExifTags.GPS.GPSLongitudeRef: "W" if lon < 0 else "E",
        ExifTags.GPS.GPSLongitude: (abs(int(lon)), 15.0, 36.0),
    })  # fmt: skip
    picture.save(path, exif=exif)


def test_photos_with_a_position_are_read_from_a_folder_without_labels(tmp_path):
    geotagged(tmp_path / "a.jpg", -33, 151)
    (tmp_path / "plain.jpg").write_bytes(PHOTO)
    for name in ("a.jpg", "plain.jpg"):
        (tmp_path / f"{name}.json").write_text('{"written by": "a photo program"}')
    told: list[LeftOut] = []
    (sample,) = load_dataset("folder", tmp_path, on_left_out=told.extend)
    assert (sample.truth.point.lat, sample.truth.point.lon) == pytest.approx((-33.5, 151.26))
    assert [(one.key, one.reason) for one in told] == [("plain.jpg", "photos have no position in their EXIF")]


def test_photos_without_a_position_make_no_data_set(tmp_path):
    (tmp_path / "plain.jpg").write_bytes(PHOTO)
    (tmp_path / "text.jpg").write_text("no picture")
    with pytest.raises(DataError, match=r"holds no samples \(2 photos have no position in their EXIF, first"):
        load_dataset("folder", tmp_path)


@pytest.mark.photos
def test_every_evaluation_photo_has_a_country_and_some_have_text(eval_photos):
    samples = load_dataset("folder", eval_photos)
    assert {tag for s in samples for tag in s.tags} >= {"text", "notext"}
    assert all(s.truth.country for s in samples)


def test_mapbench_reads_the_parts_beside_its_table(tmp_path):
    Image.new("RGB", (64, 64), "red").save(tmp_path / "one.jpg")
    row = {"index": 4, "ground_truth": {"lat": 31.2, "lon": 121.5}, "image": "one.jpg"}
    (tmp_path / "mapbench.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "parts.jsonl").write_text(json.dumps({"index": 4, "part": "hard"}) + "\n")
    (sample,) = load_dataset("mapbench", tmp_path)
    assert sample.tags == ("hard",)
