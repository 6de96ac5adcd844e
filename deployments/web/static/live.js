// The live view: how far the request is, what was decided, how far the rollouts agree, and a lane for each.

import { bar, byId, clean, count, cut, distance, el, fill } from "./dom.js";
import { belief, Lane } from "./lane.js";
import { Pictures } from "./pictures.js";
import { linesRead } from "./viewer.js";
import { plain } from "./words.js";

/** The letters and digits of a text, so that it is found again in a search for it. */
const letters = (text) => String(text ?? "").normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

const DEPTHS = { direct: "direct", standard: "standard", deep: "deep", hopeless: "coarse" };

export class Live {
  /** `map` shows places as they come; `viewer` shows photos closely; `ask` begins another request about the same photos. */
  constructor(client, map, viewer, ask) {
    this.ask = ask;
    this.pictures = new Pictures(client);
    this.map = map;
    this.viewer = viewer;
    this.egressEvent = null;
    this.facts = new Map(); // what each tool call returned
    this.asked = new Map(); // the words that each tool call asked about
    this.lines = [];
    map.clear();
    byId("run").before(byId("map"));
    this.lanes = new Map();
    this.finished = 0;
    this.planned = 0;
    this.verdict = null;
    for (const id of ["notes", "lanes", "agreement"]) byId(id).replaceChildren();
    byId("agreement").hidden = true;
    byId("run").hidden = false;
    byId("run").setAttribute("aria-busy", "true");
    this.#progress();
    byId("run-title").textContent = "Live";
    this.say("Sending the photo …");
  }

  say(words) {
    byId("status").textContent = clean(words);
  }

  note(words, kind = "") {
    const made = el("p", { class: `note ${kind}` }, words);
    byId("notes").append(made);
    return made;
  }

  take(event) {
    if (event.rollout_id !== undefined) this.#lane(event.rollout_id, event.asker).take(event);
    switch (event.type) {
      case "accepted": return this.#accepted(event);
      case "tool_called": return this.#called(event.rollout_id, event.call);
      case "hypothesis": return this.#believes(event.rollout_id, event.hypothesis);
      case "tool_result": return this.#returned(event.rollout_id, event.result);
      case "left_machine": this.egressEvent = event; return;
      case "routed": return this.#routed(event);
      case "rollout_finished": return this.#ended(event);
      case "consensus": return this.#agreement(event);
      case "escalated": return this.#escalated(event);
      case "verifier_text": return this.#verifier(event.text);
    }
  }

  /** Show the tool call that evidence rests on. */
  reveal(rollout, callId) {
    this.lanes.get(rollout)?.reveal(callId);
  }

  /** Say which rollouts were told of a claim. */
  tested(rollouts) {
    for (const id of rollouts) this.lanes.get(id)?.remark("was asked to test the claim; it has no vote");
  }

  close(words) {
    this.say(words);
    byId("run").setAttribute("aria-busy", "false");
    byId("progress").hidden = true;
    byId("run-title").textContent = "How the answer was found";
    for (const lane of this.lanes.values()) lane.close();
  }

  forget() {
    this.pictures.forget();
  }

  #accepted(event) {
    this.pictures.request = event.request_id;
    this.photos = event.photos;
    this.planned = event.n_parallel;
    this.say(`Looking at ${event.photos.length > 1 ? `${event.photos.length} photos` : "the photo"} …`);
  }

  #routed({ locatability, plan }) {
    this.planned = plan.n_planned;
    const sentence = plan.summary || `${count(plan.n_planned, "attempt")}, ${DEPTHS[plan.depth] ?? plan.depth}: ${plan.reason}`;
    const seen = locatability.why && !sentence.includes(locatability.why) ? ` In the photo: ${cut(locatability.why, 300)}.` : "";
    this.note([el("b", {}, "Plan: "), plain(cut(sentence, 400)), `.${seen}`]);
    this.say("The attempts are under way …");
    this.#progress();
  }

  #believes(rollout, hypothesis) {
    this.lines.push(...(hypothesis?.read ?? []));
    if (!hypothesis) return;
    this.map.hypothesis(rollout, hypothesis.point ?? null, belief(hypothesis)).catch(() => this.withoutMap());
  }

  #called(rollout, call) {
    this.asked.set(`${rollout} ${call.id}`, Object.values(call.arguments ?? {}).filter((value) => typeof value === "string").map(letters));
  }

  #returned(rollout, result) {
    const places = (result.facts ?? []).filter((fact) => fact.point)
      .map((fact) => ({ point: fact.point, label: fact.name || fact.country || "place" }));
    this.facts.set(`${rollout} ${result.call_id}`, places);
    this.lines.push(...(result.facts ?? []).filter((fact) => fact.kind === "text"));
    this.map.found(rollout, result.call_id, result.name, places).catch(() => this.withoutMap());
  }

  /** The lane in which the tool call behind a piece of evidence stands: the verifier's where no rollout made it. */
  laneOf(item) {
    return item.rollout_id ?? (item.call_id ? this.verifier : null) ?? null;
  }

  /** Places that the tool call behind a piece of evidence returned: the one that is quoted where it is known. */
  placesOf(item) {
    const places = this.facts.get(`${this.laneOf(item)} ${item.call_id}`) ?? [];
    const named = places.filter(({ label }) => `${item.quote} ${item.claim}`.includes(label));
    return (named.length ? named : places).slice(0, 1);
  }

  /** The line of text in a photo that a piece of evidence quotes or looked up; null where there is none. */
  lineBehind(item) {
    const asked = this.asked.get(`${this.laneOf(item)} ${item.call_id}`) ?? [];
    const named = new Set([letters(item.quote), ...asked].filter(Boolean));
    return this.lines.find(({ text }) => named.has(letters(text)))?.text ?? null;
  }

  /** What was read in a photo, by its number. */
  linesOf(number) {
    return linesRead(this.lines.filter((line) => (line.box.photo ?? 0) === number));
  }

  /** The photos that can be shown: `url` of the whole photo, `preview` of a small one, and the `lines` read in each. */
  async photosShown() {
    const found = this.photos.map(async (photo, number) => {
      const [url, preview] = await Promise.all([this.pictures.url(photo.sha256), this.pictures.preview(photo.sha256)]);
      return { ...photo, url, preview, lines: this.linesOf(number) };
    });
    return (await Promise.allSettled(found)).flatMap(({ value }) => value ?? []);
  }

  withoutMap() {
    if (this.mapless) return;
    this.mapless = true;
    this.note("The map could not be loaded. Everything else works; reload the page to try again.", "warn");
  }

  #ended({ rollout_id: rollout, answer }) {
    this.#believes(rollout, answer);
    this.finished += 1;
    const all = this.finished >= this.planned;
    this.say(all ? "All attempts have ended. Their evidence is compared …" : `${this.finished} of ${this.planned} attempts have ended`);
    this.#progress();
  }

  #escalated({ reason, added, plan }) {
    this.planned += added;
    this.verdict = null; // what the verifier says from now on is about more rollouts
    this.note([el("b", {}, `${count(added, "more attempt")}: `), plain(cut(reason, 300)), ` (now ${DEPTHS[plan.depth] ?? plan.depth})`]);
    this.#progress();
  }

  #agreement({ radius_km: radius, clusters, decided }) {
    const box = byId("agreement");
    box.hidden = clusters.length === 0;
    fill(box, el("p", { class: "soft small" }, `Attempts that agree within ${distance(radius)}${decided ? ": enough to stop the others" : ""}`),
      clusters.slice(0, 5).map((cluster) => el("div", { class: "bar-row" },
        el("span", {}, `${count(cluster.rollouts.length, "attempt")} at ${cluster.centre.lat.toFixed(2)}, ${cluster.centre.lon.toFixed(2)}`),
        bar(cluster.support, "Share of the weighted votes"))));
  }

  #verifier(text) {
    if (!this.verdict) {
      this.verdict = el("p", { class: "note", dir: "auto" }, el("b", {}, "Comparison: "));
      this.verdict.append(document.createTextNode(""));
      byId("notes").append(this.verdict);
    }
    this.verdict.lastChild.appendData(plain(clean(text)));
    this.say("The evidence is compared …");
  }

  #lane(id, asker) {
    let lane = this.lanes.get(id);
    if (!lane) {
      lane = new Lane(id, (...image) => this.pictures.element(...image), (link) => this.map.pick(link), asker);
      if (lane.asks) this.verifier = id;
      this.lanes.set(id, lane);
      const after = [...this.lanes.values()].filter((other) => other.id > id).sort((a, b) => a.id - b.id)[0];
      byId("lanes").insertBefore(lane.root, after?.root ?? null);
    }
    return lane;
  }

  #progress() {
    const bar = byId("progress");
    bar.hidden = false;
    bar.max = Math.max(1, this.planned);
    if (this.planned) bar.value = this.finished;
    else bar.removeAttribute("value");
  }
}
