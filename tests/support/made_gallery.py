"""A gallery of five made-up photos, each of one colour."""

import csv
import io

import numpy as np
from PIL import Image

from support.tiny_encoder import write_encoder
from tts.config import GalleryConfig
from tts.domain.photo_cleaning import load_photo
from tts.gallery.encoder import ImageEncoder

PLACES = {
    "sea": ((0, 60, 200), 10.0, 20.0),
    "field": ((30, 160, 40), 47.5, 19.0),
    "sand": ((230, 200, 120), 23.0, 12.5),
    "snow": ((250, 250, 255), 78.2, 15.6),
    "night": ((5, 5, 20), -33.9, 18.4),
}


ANSWER = "<think>So.</think><answer>Country: Hungary\nCity: Budapest\nEstimated Coordinates: 47.5, 19.0</answer>"


def picture(colour, width=96, height=80):
    """Sky above, the colour below: no two are alike in all their cells."""
    image = Image.new("RGB", (width, height), colour)
    image.paste((120, 180, 240), (0, 0, width, height // 4))
    return image


def as_png(image):
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def photo(colour, **size):
    return load_photo(as_png(picture(colour, **size)))


def write_gallery(folder):
    """Five photos with embeddings that the encoder made."""
    encoder = write_encoder(folder / "encoder.onnx")
    config = GalleryConfig(table=folder / "photos.csv", embeddings=folder / "vectors.npy", encoder=encoder)
    network = ImageEncoder(config)
    vectors = [network.encode(picture(colour)) for colour, _, _ in PLACES.values()]
    np.save(folder / "vectors.npy", np.stack(vectors) * 3)
    with (folder / "photos.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "lat", "lon", "embedding"])
        table.writerows([name, lat, lon, f"{name}.npy"] for name, (_, lat, lon) in PLACES.items())
    for name, vector in zip(PLACES, vectors, strict=True):
        np.save(folder / f"{name}.npy", vector.astype(np.float16))
    return config
