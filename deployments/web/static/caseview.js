// The case on the page: its title, photos and answers, statements, notes and tags; and the list of all cases.

import { verdictWords } from "./check_result.js";
import { arrange, byId, clean, copy, count, el, fill, release } from "./dom.js";
import { stepStatus } from "./next_steps.js";
import { thumbnail } from "./thumbnails.js";

const STANDINGS = { open: "open", holds: "holds", fails: "does not hold" };
const ENDS = { abstained: "not known", failed: "failed", cancelled: "cancelled", erased: "erased" };
const PAUSE_MS = 700;
const HIGH = 44; // of a thumbnail, as in case.css

/** What came of a photo, in words. */
export function outcomeWords(outcome) {
  if (!outcome) return "working …";
  if (outcome.verdict) return `${verdictWords(outcome.verdict)}${outcome.place ? ` · found: ${outcome.place}` : ""}`;
  return outcome.status === "done" ? outcome.place || "an unnamed place" : ENDS[outcome.status];
}

/** What a case is called: its title, else the first place that was found, else what its first photo is called. */
const nameOf = ({ title, places, entries }) => title || places[0] || entries[0] || "Untitled case";

export class CaseView {
  /** `act` has what the person can ask for: select(entry), eraseRun(id), eraseCase(), check(words). */
  constructor(client, act) {
    this.client = client;
    this.act = act;
    this.file = null;
    this.thumbs = new Map();
    this.entries = new Map(); // what is shown of each request, with what it was made of
    byId("case-title").addEventListener("input", () => this.#later({ title: () => byId("case-title").value.trim() }));
    byId("case-notes").addEventListener("input", () => this.#later({ notes: () => byId("case-notes").value }));
    byId("case-tags").addEventListener("input", () => this.#later({ tags: tagsWritten }));
    byId("claim-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const text = byId("claim-text").value.trim();
      if (!text) return;
      byId("claim-text").value = "";
      this.#claims([...this.file.value.claims, { text, standing: "open" }]);
    });
    byId("case-erase").addEventListener("click", () => this.#sure());
    byId("case-link").addEventListener("click", async () => {
      byId("case-status").textContent = (await copy(location.href)) ? "address copied" : location.href;
    });
    byId("case-runs").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const buttons = [...byId("case-runs").querySelectorAll(".entry")];
      const at = buttons.indexOf(document.activeElement);
      if (!step || at < 0) return;
      event.preventDefault();
      buttons[(at + step + buttons.length) % buttons.length].focus();
    });
  }

  /** Show a case; `waiting` are photos that were not sent yet, `current` is the request that is looked at. */
  show(file, waiting = [], current = null) {
    const opened = this.file !== file;
    this.file = file;
    byId("case").hidden = !file;
    if (!file) return;
    const { value } = file;
    if (opened) {
      byId("case-title").value = value.title;
      byId("case-notes").value = value.notes;
      byId("case-tags").value = value.tags.join(", ");
      byId("case-status").textContent = "";
      this.#showClaims();
      this.#asked(false);
    }
    byId("case-title").placeholder = clean(nameOf({ title: "", places: value.runs.map((run) => run.outcome?.place).filter(Boolean), entries: value.runs.map((run) => run.title) }));
    const until = value.kept_until.slice(0, 10);
    byId("case-kept").textContent = `Kept until ${until}${this.survives ? "" : ", or until the service is restarted"}.`;
    this.#list(value.runs, waiting, current);
    byId("case-count").textContent = value.runs.length + waiting.length > 1 ? `${value.runs.length + waiting.length} entries.` : "";
  }

  /** The entries; only those that changed are made again. */
  #list(runs, waiting, current) {
    const before = this.entries;
    this.entries = new Map();
    const kept = (key, words, made) => {
      const known = before.get(key);
      this.entries.set(key, known?.words === words ? known : { words, item: made() });
      return this.entries.get(key).item;
    };
    arrange(byId("case-runs"), [
      ...runs.map((run, number) => kept(run.request_id, JSON.stringify([number, run]), () => this.#entry(run, number))),
      ...waiting.map((feed) => kept(feed, feed.title, () => this.#waiting(feed))),
    ]);
    for (const { request_id: id } of runs) {
      const button = this.entries.get(id).item.querySelector(".entry");
      if (id === current) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  #waiting(feed) {
    const image = this.#thumb(null);
    feed.thumb?.then((url) => image.replaceWith(this.#thumb(url)), () => {});
    return el("li", {}, el("span", { class: "entry waiting-entry" }, image, el("span", {}, feed.title, el("small", { class: "soft" }, "waiting"))));
  }

  #entry(run, number) {
    const { outcome } = run;
    const words = outcomeWords(outcome);
    const title = run.title || `Photo ${number + 1}`;
    const button = el("button", { type: "button", class: `entry ${outcome ? outcome.status : "busy"}`, disabled: outcome?.status === "erased",
      onclick: () => this.act.select(run.request_id) }, this.#thumbOf(run), el("span", {}, title, el("small", { dir: "auto" }, words)));
    const erase = el("button", { type: "button", class: "small-button", "aria-label": `Erase ${title}`, onclick: () => this.act.eraseRun(run.request_id) }, "Erase");
    return el("li", {}, button, erase);
  }

  #thumb(url) {
    return url ? el("img", { src: url, alt: "", width: 44, height: 44 }) : el("span", { class: "no-thumb", "aria-hidden": "true" });
  }

  #thumbOf(run) {
    const image = this.#thumb(null);
    const sha = run.photos?.[0];
    if (!sha || run.outcome?.status === "erased") return image;
    if (!this.thumbs.has(run.request_id)) this.thumbs.set(run.request_id, this.client.file(run.request_id, sha).then((photo) => thumbnail(photo, HIGH)));
    this.thumbs.get(run.request_id).then((url) => url && image.replaceWith(this.#thumb(url)), () => {});
    return image;
  }

  /** Free the pictures of a case that is left. */
  forget() {
    for (const made of this.thumbs.values()) made.then((url) => url && release(url), () => {});
    this.thumbs.clear();
    this.entries.clear();
  }

  #later(fields) {
    clearTimeout(this.timer);
    this.pending = { ...this.pending, ...fields };
    byId("case-status").textContent = "…";
    this.timer = setTimeout(() => this.save(), PAUSE_MS);
  }

  /** Write what was changed. */
  async save() {
    clearTimeout(this.timer);
    const fields = Object.fromEntries(Object.entries(this.pending ?? {}).map(([name, read]) => [name, read()]));
    this.pending = {};
    if (!this.file || !Object.keys(fields).length) return;
    try {
      await this.file.change(fields);
      byId("case-status").textContent = "saved";
    } catch (error) {
      byId("case-status").textContent = `not saved: ${error.message}`;
    }
  }

  async #claims(claims) {
    try {
      await this.file.change({ claims });
      byId("case-status").textContent = "saved";
    } catch (error) {
      byId("case-status").textContent = `not saved: ${error.message}`;
    }
    this.#showClaims();
  }

  #showClaims() {
    const { claims } = this.file.value;
    fill(byId("case-claims"), claims.map((claim, index) => {
      const choice = el("select", { "aria-label": `What you think of: ${claim.text}`, onchange: () => this.#claims(claims.with(index, { ...claim, standing: choice.value })) },
        Object.entries(STANDINGS).map(([name, words]) => el("option", { value: name, selected: name === claim.standing }, words)));
      return el("li", { class: `claim ${claim.standing}` }, el("span", { dir: "auto" }, claim.text), choice,
        el("button", { type: "button", class: "small-button", "aria-label": `Check: ${claim.text}`, id: `statement-${index}`, onclick: () => this.act.check(claim.text, `statement-${index}`) }, "Check"),
        el("button", { type: "button", class: "small-button", "aria-label": `Remove: ${claim.text}`, onclick: () => this.#claims(claims.toSpliced(index, 1)) }, "Remove"), stepStatus(`statement-${index}`));
    }));
  }

  #asked(on) {
    byId("case-sure").hidden = !on;
    byId("case-erase").hidden = on;
  }

  #sure() {
    this.#asked(true);
    fill(byId("case-sure"), `Erase this case with ${count(this.file.value.runs.length, "answer")} and all its photos, everywhere in the service? `,
      el("button", { type: "button", class: "small-button", onclick: () => this.act.eraseCase() }, "Erase"), " ",
      el("button", { type: "button", class: "small-button", onclick: () => { this.#asked(false); byId("case-erase").focus(); } }, "Keep"));
    byId("case-sure").querySelector("button").focus();
  }
}

const tagsWritten = () => [...new Set(byId("case-tags").value.split(",").map((tag) => tag.trim().slice(0, 40)).filter(Boolean))].slice(0, 20);

const listed = []; // the URLs of the pictures in the list
let watcher = null;

/** The first photo of a case, made when it comes into view; an empty square where the photo is not kept. */
function pictureOf({ first }, client) {
  const square = el("span", { class: "no-thumb", "aria-hidden": "true" });
  const run = first.find(({ photos, outcome }) => photos.length && outcome?.status !== "erased");
  square.show = async () => {
    try {
      const url = await thumbnail(await client.file(run.request_id, run.photos[0]), HIGH);
      if (!square.isConnected) return release(url);
      listed.push(url);
      square.replaceWith(el("img", { src: url, alt: "", width: HIGH, height: HIGH }));
    } catch {
      // it is not kept any more, and the square stays
    }
  };
  if (run) watcher.observe(square);
  return square;
}

/** The list of cases, filtered. */
export async function listCases(client) {
  const words = byId("cases-words").value.trim();
  const { cases } = await client.json(`cases?${new URLSearchParams({ q: words })}`);
  for (const url of listed.splice(0)) release(url);
  watcher?.disconnect();
  watcher = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach(({ target }) => { watcher.unobserve(target); target.show(); }));
  fill(byId("cases-list"), cases.map((one) => el("li", { class: "case-row" }, pictureOf(one, client), el("div", {}, el("a", { href: `#${one.case_id}` }, nameOf(one)),
    el("span", { class: "soft small" }, ` changed ${one.changed_at.slice(0, 16).replace("T", " ")} UTC · ${count(one.runs, "answer")}${one.running ? `, ${one.running} at work` : ""}`),
    one.tags.map((tag) => [" ", el("button", { type: "button", class: "tag", onclick: () => { byId("cases-words").value = tag; listCases(client); } }, tag)]),
    el("ul", { class: "small" }, one.first.map((run, number) => el("li", {}, el("b", { dir: "auto" }, run.title || `Photo ${number + 1}`), ": ", el("span", { dir: "auto" }, outcomeWords(run.outcome)))),
      one.runs > one.first.length ? el("li", { class: "soft" }, `and ${one.runs - one.first.length} more`) : "")))));
  byId("cases-none").hidden = cases.length > 0;
  byId("cases-none").textContent = words ? "No case has these words." : "There are no cases yet: locate a photo, and one begins.";
}
