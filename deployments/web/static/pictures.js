// Pictures of a request. They need the API key, so they are fetched and shown from memory, each once.

import { el, release } from "./dom.js";
import { drawRegion, thumbnail } from "./thumbnails.js";

const MOST = 60; // thumbnails in all lanes together
const [WIDE, HIGH] = [160, 120]; // of a thumbnail, as in results.css
const PREVIEW = 176; // the height of a photo beside the answer on paper, as in print.css; on the screen it is less

export class Pictures {
  constructor(client) {
    this.client = client;
    this.request = null;
    this.files = new Map();
    this.urls = new Map();
    this.shown = 0;
  }

  /** The URL of a file of the request in memory. */
  url(sha256) {
    return this.#once(sha256, async () => URL.createObjectURL(await this.#file(sha256)));
  }

  /** The URL of a photo as it is shown beside the answer. The whole photo is decoded only in the viewer. */
  preview(sha256) {
    return this.#once(`${sha256} preview`, async () => thumbnail(await this.#file(sha256), PREVIEW));
  }

  /** A thumbnail; of a region (fractions of the sides) when `box` is given. */
  element(sha256, width, height, box, alt) {
    this.shown += 1;
    if (this.shown > MOST) return el("span", { class: "soft small" }, alt);
    const canvas = el("canvas", { role: "img", "aria-label": alt, title: alt, width: WIDE, height: HIGH });
    this.#drawn(canvas, sha256, box).catch(() => canvas.replaceWith(el("span", { class: "soft small" }, `${alt} (gone)`)));
    return canvas;
  }

  forget() {
    for (const found of this.urls.values()) found.then((url) => url && release(url), () => {});
    this.urls.clear();
    this.files.clear();
  }

  #once(name, made) {
    if (!this.urls.has(name)) this.urls.set(name, made());
    return this.urls.get(name);
  }

  #file(sha256) {
    if (!this.files.has(sha256)) this.files.set(sha256, this.client.file(this.request, sha256));
    return this.files.get(sha256);
  }

  async #drawn(canvas, sha256, box) {
    await drawRegion(canvas, await this.#file(sha256), box, WIDE, HIGH);
  }
}
