// The photos that were chosen, dropped or pasted: bounded, shown small, removable; of one place or each of its own.

import { arrange, byId, count, el, release } from "./dom.js";
import { thumbnail } from "./thumbnails.js";

const megabytes = (bytes) => (bytes < 2 ** 19 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 2 ** 20).toFixed(1)} MB`);
const MOST = 200; // what a case holds
const HIGH = 72; // of a thumbnail, as in page.css

export class Photos {
  /** `complain` tells what was refused. */
  constructor(complain) {
    this.complain = complain;
    this.files = [];
    this.thumbs = new Map(); // the URL of each file's thumbnail, promised
    this.items = new Map();
    this.limits = { photos: 8, photo_bytes: 32 * 2 ** 20, body_bytes: 96 * 2 ** 20 };
    const [input, drop] = [byId("photos"), byId("drop")];
    input.addEventListener("change", () => {
      this.add(input.files);
      input.value = "";
    });
    addEventListener("paste", (event) => event.clipboardData?.files.length && this.add(event.clipboardData.files));
    for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault()); // never leave the page
    addEventListener("dragenter", () => drop.classList.add("over"));
    addEventListener("dragleave", (event) => event.relatedTarget || drop.classList.remove("over"));
    addEventListener("drop", (event) => {
      drop.classList.remove("over");
      this.add(event.dataTransfer.files);
    });
  }

  add(files) {
    const refused = [];
    for (const file of files) {
      if (file.size > this.limits.photo_bytes) refused.push(`${file.name} has ${megabytes(file.size)}; at most ${megabytes(this.limits.photo_bytes)} are accepted.`);
      else if (this.files.length >= MOST) refused.push(`At most ${MOST} photos are accepted at once.`);
      else this.files.push(file);
    }
    this.complain([...new Set(refused)].join(" "));
    this.#show();
  }

  /** What is asked: `files` of one place each, what to call them, and a picture of the first. */
  places() {
    if (this.files.length > 1 && this.#apart()) return this.files.map((file, index) => ({ files: [file], title: file.name.slice(0, 200) || `Photo ${index + 1}`, thumb: this.thumbs.get(file) }));
    const title = this.files.length > 1 ? `${this.files.length} photos together` : this.files[0].name.slice(0, 200) || "Photo";
    return [{ files: this.files, title, thumb: this.thumbs.get(this.files[0]) }];
  }

  /** Why the photos cannot be looked at together; empty where they can. */
  #tooMany() {
    if (this.files.length > this.limits.photos) return `at most ${this.limits.photos} photos can be of one place`;
    const all = this.files.reduce((sum, file) => sum + file.size, 0);
    return all > this.limits.body_bytes * 0.98 ? `together they may have at most ${megabytes(this.limits.body_bytes)}` : "";
  }

  #apart() {
    return byId("apart").checked || Boolean(this.#tooMany());
  }

  #show() {
    const list = byId("thumbs");
    arrange(list, this.files.map((file) => this.#item(file)));
    list.hidden = this.files.length === 0;
    list.classList.toggle("many", this.files.length > 4);
    byId("drop").classList.toggle("filled", this.files.length > 0);
    byId("drop-note").textContent = this.files.length ? `${count(this.files.length, "photo")} chosen; add more` : "or several";
    this.#mode();
  }

  /** The list item of a file, made once. */
  #item(file) {
    if (this.items.has(file)) return this.items.get(file);
    const image = el("img", { alt: "", width: "72", height: "72" });
    const thumb = thumbnail(file, HIGH);
    thumb.then((url) => { image.src = url; }, () => image.replaceWith(el("span", { class: "no-preview" }, "no preview")));
    const item = el("li", {}, image, el("span", { class: "name" }, file.name, el("small", { class: "soft" }, megabytes(file.size))),
      el("button", { type: "button", class: "small-button", "aria-label": `Remove ${file.name}`, onclick: () => this.#remove(file) }, "Remove"));
    this.thumbs.set(file, thumb);
    this.items.set(file, item);
    return item;
  }

  #mode() {
    byId("mode").hidden = this.files.length < 2;
    const why = this.#tooMany();
    byId("together").disabled = Boolean(why);
    byId("together-note").textContent = why ? `not possible: ${why}` : "all are looked at together: one answer";
    if (why) byId("apart").checked = true;
  }

  #remove(file) {
    this.thumbs.get(file).then(release, () => {});
    this.files = this.files.filter((other) => other !== file);
    this.thumbs.delete(file);
    this.items.delete(file);
    this.#show();
    byId("photos").focus();
  }
}
