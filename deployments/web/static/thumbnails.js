// Photos at the size of a thumbnail: a few kB of memory each, however large the photo is. One is decoded at a time.

let last = Promise.resolve();

/** Pixels of the screen for one of CSS: more than two cannot be seen in a thumbnail. */
const dots = () => Math.min(2, Math.max(1, devicePixelRatio));

/** The URL of a JPEG of the photo for `high` CSS pixels; the caller releases it. Throws where the photo cannot be read. */
export function thumbnail(blob, high) {
  return alone(async () => {
    const bitmap = await createImageBitmap(blob, { resizeHeight: Math.round(high * dots()), resizeQuality: "medium" });
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    return URL.createObjectURL(await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 }));
  });
}

/** Draw a region of the photo (fractions of the sides; all of it without `box`) into a canvas, for at most `wide` × `high` CSS pixels. */
export function drawRegion(canvas, blob, box, wide, high) {
  return alone(async () => {
    const bitmap = await createImageBitmap(blob);
    const { x0, y0, x1, y1 } = box ?? { x0: 0, y0: 0, x1: 1, y1: 1 };
    const [from, down] = [(x1 - x0) * bitmap.width, (y1 - y0) * bitmap.height];
    const scale = Math.min((wide * dots()) / from, (high * dots()) / down, 2);
    canvas.width = Math.max(1, Math.round(from * scale));
    canvas.height = Math.max(1, Math.round(down * scale));
    canvas.getContext("2d").drawImage(bitmap, x0 * bitmap.width, y0 * bitmap.height, from, down, 0, 0, canvas.width, canvas.height);
    bitmap.close();
  });
}

/** Work on a photo while no other one is decoded. */
function alone(work) {
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}
