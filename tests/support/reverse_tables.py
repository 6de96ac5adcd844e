"""Tables with recorded searches, in the layout of REVERSE."""

import pyarrow
from pyarrow import parquet

from tts.toolkit.reverse_cache.tables import IMAGES, TEXTS

PATH = "images/a/one.jpg"
PHOTO = "f" * 64


def picture_row(position, useful, *, call=0, title="P", box="[100.0, 200.0, 600.0, 700.0]", path=PATH):
    return {
        "image_id": "one.jpg", "image_path": path, "bbox": box, "call_idx": call, "result_pos": position,
        "result_title": f"{title} {position}", "result_link": f"https://p{position}.example/", "result_source": "S",
        "result_thumbnail": "", "is_geo_useful": useful, "useful_indices": "[1]", "n_useful": 1, "call_turn": 2,
        "part": "p",
    }  # fmt: skip


def text_row(position, useful, query, call):
    return {
        "image_id": "one.jpg", "image_path": PATH, "call_idx": call, "query": query, "result_index": position,
        "result_title": f"T {position}", "result_url": f"https://t{call}{position}.example/",
        "result_content": "words " * 60, "is_geo_useful": useful, "useful_indices": "[]", "n_useful": 0,
        "call_turn": 4, "part": "p",
    }  # fmt: skip


def write_recorded_tables(folder):
    """Tables as REVERSE publishes them: two photos with recorded searches."""
    pictures = [
        picture_row(2, False), picture_row(1, False), picture_row(1, True),
        picture_row(1, True, call=1, box="[0, 0, 300, 300]"),
        picture_row(-1, False, path="images/a/two.jpg", title=""), picture_row(1, True, box="no box", path="bad.jpg"),
    ]  # fmt: skip
    texts = [text_row(1, True, "old crane harbour", 0), text_row(1, False, "museum | coordinates", 1)]
    parquet.write_table(pyarrow.Table.from_pylist(pictures), folder / IMAGES)
    parquet.write_table(pyarrow.Table.from_pylist(texts), folder / TEXTS)
    return folder
