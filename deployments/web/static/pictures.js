// Pictures of a request. They need the API key, so they are fetched and shown from memory, each once.

import { el, release } from "./dom.js";

const MOST = 60; // thumbnails in all lanes together

export class Pictures {
  constructor(client) {
    this.client = client;
    this.request = null;
    this.urls = new Map();
    this.shown = 0;
  }

  /** The URL of a file of the request in memory. */
  url(sha256) {
    return this.#once(sha256, () => this.client.file(this.request, sha256));
  }

  /** A thumbnail; of a region (fractions of the sides) when `box` is given. */
  element(sha256, width, height, box, alt) {
    this.shown += 1;
    if (this.shown > MOST) return el("span", { class: "soft small" }, alt);
    const canvas = el("canvas", { role: "img", "aria-label": alt, title: alt, width: "160", height: "120" });
    this.#drawn(canvas, sha256, box).catch(() => canvas.replaceWith(el("span", { class: "soft small" }, `${alt} (gone)`)));
    return canvas;
  }

  forget() {
    for (const found of this.urls.values()) found.then((url) => url && release(url), () => {});
    this.urls.clear();
  }

  #once(name, fetched) {
    if (!this.urls.has(name)) this.urls.set(name, fetched().then((blob) => blob && URL.createObjectURL(blob)));
    return this.urls.get(name);
  }

  async #drawn(canvas, sha256, box) {
    const image = new Image();
    image.src = await this.url(sha256);
    await image.decode();
    const [x, y] = box ? [box.x0 * image.naturalWidth, box.y0 * image.naturalHeight] : [0, 0];
    const wide = box ? (box.x1 - box.x0) * image.naturalWidth : image.naturalWidth;
    const high = box ? (box.y1 - box.y0) * image.naturalHeight : image.naturalHeight;
    const scale = Math.min(320 / wide, 240 / high, 2);
    canvas.width = Math.max(1, Math.round(wide * scale));
    canvas.height = Math.max(1, Math.round(high * scale));
    canvas.getContext("2d").drawImage(image, x, y, wide, high, 0, 0, canvas.width, canvas.height);
  }
}
