// The photos that were chosen, dropped or pasted: bounded, shown small, removable.

import { byId, count, el, release } from "./dom.js";

const megabytes = (bytes) => (bytes < 2 ** 19 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 2 ** 20).toFixed(1)} MB`);

export class Photos {
  /** `complain` tells what was refused. */
  constructor(complain) {
    this.complain = complain;
    this.files = [];
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
      else if (this.files.length >= this.limits.photos) refused.push(`At most ${this.limits.photos} photos of one place are accepted.`);
      else this.files.push(file);
    }
    while (this.files.reduce((sum, file) => sum + file.size, 0) > this.limits.body_bytes * 0.98) {
      refused.push(`${this.files.pop().name} was left out: all photos together may have at most ${megabytes(this.limits.body_bytes)}.`);
    }
    this.complain([...new Set(refused)].join(" "));
    this.#show();
  }

  #show() {
    const list = byId("thumbs");
    for (const image of list.querySelectorAll("img")) release(image.src);
    list.replaceChildren(...this.files.map((file, index) => {
      const image = el("img", { alt: "", width: "72", height: "72" });
      image.addEventListener("error", () => image.replaceWith(el("span", { class: "no-preview" }, "no preview")));
      image.src = URL.createObjectURL(file);
      return el("li", {}, image, el("span", { class: "name" }, file.name, el("small", { class: "soft" }, megabytes(file.size))),
        el("button", { type: "button", class: "small-button", "aria-label": `Remove ${file.name}`, onclick: () => this.#remove(index) }, "Remove"));
    }));
    list.hidden = this.files.length === 0;
    byId("drop").classList.toggle("filled", this.files.length > 0);
    byId("drop-note").textContent = this.files.length ? `${count(this.files.length, "photo")} chosen; add more of the same place` : "or several of one place";
  }

  #remove(index) {
    this.files.splice(index, 1);
    this.#show();
    byId("photos").focus();
  }
}
