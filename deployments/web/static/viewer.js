// A photo, looked at closely: larger, turned, brighter, and with the places where something was read.

import { byId, clean, count, el, fill } from "./dom.js";

const STEPS = [1, 1.5, 2, 3, 4, 6, 8];
const languages = new Intl.DisplayNames(["en"], { type: "language" });
const scripts = new Intl.DisplayNames(["en"], { type: "script" });

/** A language or script code in words; what is no code stays as it is. */
export function spelledOut(names, code) {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}

/** Language and script of a line of text in words: “Greek”, “Serbian, Cyrillic script”. */
export function written({ language, script }) {
  const spoken = language ? spelledOut(languages, language) : "";
  const letters = script ? spelledOut(scripts, script) : "";
  if (!letters || letters === spoken) return spoken || (letters && `${letters} script`);
  return spoken ? `${spoken}, ${letters} script` : `${letters} script`;
}

export class Viewer {
  constructor() {
    this.photos = [];
    const keys = { "+": () => this.#zoom(1), "=": () => this.#zoom(1), "-": () => this.#zoom(-1), r: () => this.#turn(), R: () => this.#turn() };
    byId("viewer-more").addEventListener("click", keys["+"]);
    byId("viewer-less").addEventListener("click", keys["-"]);
    byId("viewer-turn").addEventListener("click", keys.r);
    byId("viewer-light").addEventListener("input", () => this.#draw());
    byId("viewer-boxes").addEventListener("change", () => this.#draw());
    byId("viewer-reset").addEventListener("click", () => this.#reset());
    byId("viewer-close").addEventListener("click", () => byId("viewer").close());
    byId("viewer").addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const scrolls = event.target.id === "viewer-stage" && this.step > 0;
      if (step && event.target.type !== "range" && !scrolls && this.photos.length > 1) this.#go(this.number + step);
      else if (keys[event.key] && event.target.type !== "range") keys[event.key]();
      else return;
      event.preventDefault();
    });
    byId("viewer").addEventListener("close", () => byId("viewer-sheet").replaceChildren()); // the browser may forget the photo
    addEventListener("resize", () => byId("viewer").open && this.#draw());
  }

  /** Open it. Each photo has `url`, `width`, `height` and the `lines` that were read in it. */
  open(photos, number) {
    this.photos = photos;
    byId("viewer").showModal();
    this.#go(number);
    byId("viewer-stage").focus();
  }

  #go(number) {
    this.number = (number + this.photos.length) % this.photos.length;
    const { url, lines } = this.photos[this.number];
    const name = `Photo ${this.number + 1}`;
    byId("viewer-title").textContent = this.photos.length > 1 ? `${name} of ${this.photos.length}` : name;
    fill(byId("viewer-sheet"), el("img", { src: url, alt: `${name}, without its metadata` }),
      lines.map((line, index) => el("span", { class: "read-box", "data-link": `line-${index}`, title: line.text })));
    fill(byId("viewer-list"), lines.length
      ? [el("p", { class: "soft" }, `${count(lines.length, "line")} of text ${lines.length > 1 ? "were" : "was"} read in it:`),
        el("ul", {}, lines.map((line, index) => el("li", { "data-link": `line-${index}`, dir: "auto" }, el("b", {}, line.text), " ", el("span", { class: "soft" }, written(line)))))]
      : el("p", { class: "soft" }, "No text was read in it."));
    this.#reset();
  }

  #reset() {
    this.step = 0;
    this.angle = 0;
    byId("viewer-light").value = 100;
    this.#draw();
  }

  #zoom(by) {
    this.step = Math.max(0, Math.min(STEPS.length - 1, this.step + by));
    this.#draw();
  }

  #turn() {
    this.angle = (this.angle + 90) % 360;
    this.#draw();
  }

  #draw() {
    const { width, height, lines } = this.photos[this.number];
    const [stage, sheet] = [byId("viewer-stage"), byId("viewer-sheet")];
    const turned = this.angle % 180 !== 0;
    const fit = Math.min((stage.clientWidth - 4) / (turned ? height : width), (stage.clientHeight - 4) / (turned ? width : height));
    const [wide, high] = [width * fit * STEPS[this.step], height * fit * STEPS[this.step]];
    const image = sheet.querySelector("img");
    Object.assign(sheet.style, { inlineSize: `${turned ? high : wide}px`, blockSize: `${turned ? wide : high}px` });
    Object.assign(image.style, { inlineSize: `${wide}px`, blockSize: `${high}px`, position: "absolute", left: "50%", top: "50%",
      transform: `translate(-50%, -50%) rotate(${this.angle}deg)`, filter: `brightness(${byId("viewer-light").value}%)` });
    sheet.querySelectorAll(".read-box").forEach((box, index) => {
      const { x0, y0, x1, y1 } = turnedBox(lines[index].box, this.angle);
      Object.assign(box.style, { left: `${x0 * 100}%`, top: `${y0 * 100}%`, inlineSize: `${(x1 - x0) * 100}%`, blockSize: `${(y1 - y0) * 100}%` });
      box.hidden = !byId("viewer-boxes").checked;
    });
  }
}

function turnedBox({ x0, y0, x1, y1 }, angle) {
  if (angle === 90) return { x0: 1 - y1, y0: x0, x1: 1 - y0, y1: x1 };
  if (angle === 180) return { x0: 1 - x1, y0: 1 - y1, x1: 1 - x0, y1: 1 - y0 };
  if (angle === 270) return { x0: y0, y0: 1 - x1, x1: y1, y1: 1 - x0 };
  return { x0, y0, x1, y1 };
}

/** Lines that rollouts read, each once; of one photo, or of the first where a result does not say which. */
export function linesRead(facts) {
  const seen = new Map();
  for (const fact of facts) seen.set(`${clean(fact.text)} ${Math.round(fact.box.x0 * 50)} ${Math.round(fact.box.y0 * 50)}`, fact);
  return [...seen.values()];
}
