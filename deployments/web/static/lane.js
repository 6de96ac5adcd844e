// One rollout: what it says, what it asks its tools, what they answer, what it believes. Made of text only.

import { clean, coordinates, count, cut, el, fill, placeName } from "./dom.js";
import { linkOf } from "./links.js";
import { beforePaint } from "./painting.js";
import { hue } from "./worldmap.js";

const ENDS = {
  answered: ["answered", "good"],
  budget: ["budget used up", "mild"],
  deadline: ["out of time", "mild"],
  cancelled: ["stopped", "mild"],
  quorum: ["stopped early: the others already agreed", "mild"],
  failed: ["failed", "bad"],
};

/** A belief in one line. */
export function belief(hypothesis) {
  if (!hypothesis) return "no answer";
  const name = placeName(hypothesis);
  if (!hypothesis.point) return name ? `does not know; perhaps ${name}` : "does not know";
  return name || "an unnamed place";
}


function written(call) {
  const given = Object.entries(call.arguments ?? {})
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return cut(given.join(", "), 300);
}

function isObject(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

export class Lane {
  /** `picture(sha256, width, height, box, alt)` gives an element that shows a file of the request; `showOnMap(link)`
   * goes to a place. */
  constructor(id, picture, showOnMap, asker = "rollout") {
    this.id = id;
    const name = asker === "verifier" ? "Comparison" : `Attempt ${id}`;
    this.picture = picture;
    this.calls = new Map();
    this.message = null;
    this.turns = 0;
    this.end = 0; // how far the log was scrolled to show its end, pixels
    const title = `lane-${id}`;
    this.badge = el("span", { class: "badge busy" }, "starting");
    this.belief = el("p", { class: "belief" }, el("span", { class: "soft" }, "no place in mind yet"));
    this.log = el("div", { class: "log", tabindex: "0", role: "group", "aria-label": `What ${name.toLowerCase()} says and does` });
    const swatch = el("button", { type: "button", class: `swatch ${hue(id)}`, "aria-label": `Show ${name.toLowerCase()} on the map`, onclick: () => showOnMap(linkOf.rollout(id)) }, asker === "verifier" ? "?" : id);
    this.root = el("article", { class: "lane", "aria-labelledby": title, "data-link": linkOf.rollout(id) },
      el("header", {}, swatch, el("h3", { id: title }, name), this.badge), this.belief, this.log);
    this.asks = asker === "verifier";
    if (this.asks) fill(this.belief, el("span", { class: "soft" }, "asks the same of each of the leading places"));
  }

  take(event) {
    this.#show(event);
    beforePaint(this, () => this.#scrolled());
  }

  /** Go on showing the end, unless a person has scrolled up from it. */
  #scrolled() {
    const end = this.log.scrollHeight - this.log.clientHeight;
    if (this.log.scrollTop < Math.min(this.end, end) - 40) return null;
    this.end = end;
    return () => { this.log.scrollTop = end; };
  }

  #show(event) {
    switch (event.type) {
      case "rollout_started": return this.#started(event.source);
      case "text": return this.#text(event);
      case "tool_called": return this.#called(event);
      case "tool_result": return this.#result(event.result);
      case "hypothesis": return this.#believes(event.hypothesis);
      case "turn_finished": return this.#turned(event);
      case "rollout_resumed": return this.#resumed(event.from_turn, event.moved);
      case "rollout_finished": return this.#finished(event);
    }
  }

  /** Open and show the call that a piece of evidence rests on. */
  reveal(callId) {
    const call = this.calls.get(callId);
    this.root.scrollIntoView({ block: "nearest" });
    if (!call) return this.log.focus();
    call.box.open = true;
    this.log.scrollTop = call.box.offsetTop - this.log.offsetTop - 8;
    call.box.querySelector("summary").focus();
  }

  /** The request is over: nothing more will come, whatever it was doing. */
  close() {
    if (!this.root.classList.contains("ended")) this.#state(this.asks ? "done" : "stopped", "mild");
    this.root.classList.add("ended");
    this.#unanswered();
  }

  /** `source` is the model, where several share the rollouts. */
  #started(source) {
    if (source) this.root.querySelector("h3").textContent = clean(`Attempt ${this.id} · ${cut(source, 40)}`);
    this.#state("thinking", "busy");
  }

  /** Say something about the whole rollout. */
  remark(words) {
    this.root.querySelector("header").after(el("p", { class: "remark soft small" }, words));
  }

  #unanswered() {
    for (const { box, outcome } of this.calls.values()) {
      if (!box.matches(".ok, .failed")) outcome.textContent = "no result: it was stopped";
    }
  }

  #state(words, kind) {
    this.badge.textContent = clean(words);
    this.badge.className = `badge ${kind}`;
  }

  #add(turn, node) {
    node.dataset.turn = turn;
    this.log.append(node);
  }

  #text({ turn, text }) {
    if (!this.message || this.message.dataset.turn !== String(turn)) {
      this.message = el("p", { class: "message", dir: "auto" });
      this.message.append(document.createTextNode(""));
      this.#add(turn, this.message);
    }
    this.message.firstChild.appendData(clean(text));
    this.#state("thinking", "busy");
  }

  #called({ turn, call }) {
    this.message = null;
    this.turn = turn;
    const outcome = el("span", { class: "outcome soft" }, "…");
    const summary = el("summary", {},
      el("code", {}, el("b", {}, call.name), el("span", { class: "arguments" }, `(${written(call)})`)), outcome);
    const box = el("details", { class: "call", "data-link": linkOf.call(this.id, call.id) }, summary);
    this.calls.set(call.id, { box, outcome, name: call.name });
    this.#add(turn, box);
    this.#state(`asks ${cut(call.name, 40)}`, "busy");
  }

  #result(result) {
    const call = this.calls.get(result.call_id);
    if (!call) return;
    const failed = Boolean(result.failure);
    call.box.classList.add(failed ? "failed" : "ok");
    const first = (result.text || "nothing").trim().split("\n", 1)[0];
    call.outcome.textContent = clean(`${failed ? "✗ " : "→ "}${cut(first, 140)}`);
    call.outcome.classList.remove("soft");
    const remarks = [failed ? `${result.failure.kind}` : "", result.kept ? "known from the earlier request" : "", result.cached ? "from the cache" : "", result.retrieved_at]
      .filter(Boolean).join(" · ");
    call.box.append(el("pre", { dir: "auto", tabindex: "0" }, cut(result.text)), remarks ? el("p", { class: "soft small" }, remarks) : "");
    const pictures = (result.images ?? []).slice(0, 4)
      .map((image) => this.picture(image.sha256, image.width, image.height, image.box, image.label || `picture from ${result.name}`));
    if (pictures.length) this.#add(call.box.dataset.turn, el("div", { class: "pictures-row" }, pictures));
    this.#state("thinking", "busy");
  }

  #believes(hypothesis) {
    fill(this.belief, el("b", { dir: "auto" }, belief(hypothesis)), el("small", { class: "soft" }, hypothesis.point ? coordinates(hypothesis.point, 3) : ""));
  }

  #turned({ turn }) {
    if (this.message) this.#fold(this.message);
    this.message = null;
    this.turns = turn + 1;
  }

  /** An answer that was written as JSON is folded away: the belief above says the same in words. */
  #fold(message) {
    const text = message.textContent;
    const start = text.search(/(^|\n)\s*\{/);
    const written = start < 0 ? "" : text.slice(start).trim();
    if (!isObject(written)) return;
    message.textContent = text.slice(0, start).trim();
    message.after(el("details", { class: "call", "data-turn": message.dataset.turn },
      el("summary", {}, el("span", { class: "soft" }, "the answer as JSON")), el("pre", { dir: "auto", tabindex: "0" }, cut(written))));
    if (!message.textContent) message.remove();
  }

  #resumed(fromTurn, moved) {
    for (const node of this.log.children) {
      if (Number(node.dataset.turn) > fromTurn) node.classList.add("void");
    }
    this.message = null;
    this.#add(fromTurn, el("p", { class: "note small" }, moved ? `${cut(moved, 300)}; another model goes on.` : `The process that did this was lost; another one continues ${fromTurn < 0 ? "from the start" : `after step ${fromTurn + 1}`}.`));
  }

  #finished({ stop_reason: reason, answer, error, usage }) {
    const [words, kind] = reason === "answered" && !answer?.point ? ["does not know", "mild"] : ENDS[reason] ?? [reason, "mild"];
    this.#state(words, kind);
    if (answer) this.#believes(answer);
    else fill(this.belief, el("span", { class: "soft" }, belief(null)));
    const took = [count(usage.turns, "step"), count(usage.tool_calls, "tool call")].join(" · ");
    if (error) this.#add(this.turns, el("p", { class: "note bad-note" }, cut(error, 600)));
    this.#unanswered();
    this.root.append(el("footer", { class: "soft small" }, took));
    this.root.classList.add("ended");
  }
}
