// The claim of a request: a place that somebody says the photo shows, or several to compare.

import { byId, el } from "./dom.js";

const MOST = 8;

export class Claims {
  constructor() {
    byId("claims-more").addEventListener("click", () => this.#add().focus());
    byId("claims-rows").addEventListener("input", () => this.#changed());
    this.#add();
  }

  /** What was written, without empty fields. */
  get given() {
    return this.#fields().map((field) => field.value.trim()).filter(Boolean);
  }

  /** Words for the list of a case: “Check: Lugano”. */
  static title(claims, photo = "") {
    const what = `${claims.length > 1 ? "Compare" : "Check"}: ${claims.join(" or ")}`;
    return `${photo ? `${photo}, ` : ""}${photo ? what.toLowerCase().slice(0, 1) + what.slice(1) : what}`.slice(0, 200);
  }

  /** Mark the fields that the service did not understand. False where it named none. */
  refuse(fields) {
    const wrong = fields.map(({ field }) => /^claim(?:\.(\d+))?$/.exec(field)).filter(Boolean).map(([, number]) => Number(number ?? 0));
    if (!wrong.length || !this.given.length) return false;
    const written = this.#fields().filter((field) => field.value.trim());
    for (const number of wrong) written[number]?.setAttribute("aria-invalid", "true");
    byId("check").open = true;
    written[wrong[0]]?.focus();
    return true;
  }

  #fields() {
    return [...byId("claims-rows").querySelectorAll("input")];
  }

  #add() {
    const field = el("input", { type: "text", maxlength: 400, autocomplete: "off", spellcheck: "false", "aria-describedby": "claims-note" });
    const remove = el("button", { type: "button", class: "small-button", onclick: () => this.#remove(field) }, "Remove");
    byId("claims-rows").append(el("li", {}, el("label", {}), field, remove));
    this.#changed();
    return field;
  }

  #remove(field) {
    field.closest("li").remove();
    this.#changed();
    this.#fields().at(-1).focus();
  }

  #changed() {
    const rows = [...byId("claims-rows").children];
    rows.forEach((row, number) => {
      const [label, field, remove] = row.children;
      const name = rows.length > 1 ? `Claimed place ${number + 1}` : "Claimed place";
      label.textContent = name;
      label.htmlFor = field.id = `claim-${number}`;
      remove.hidden = rows.length === 1;
      remove.setAttribute("aria-label", `Remove ${name.toLowerCase()}`);
      if (document.activeElement === field) field.removeAttribute("aria-invalid");
    });
    byId("claims-more").hidden = rows.length >= MOST;
    byId("go").textContent = this.verb;
  }

  /** What the button of the form does. */
  get verb() {
    return ["Locate", "Check the claim"][this.given.length] ?? "Compare the places";
  }
}
