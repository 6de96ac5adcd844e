// How a person goes on from an answer: rule a place out, add what is known by now, or check a claim.

import { byId, el, fill, placeName } from "./dom.js";

/** What became of the earlier answer, where this one continues it. */
export function whatChanged(answer, live) {
  const { changed } = answer;
  if (!changed) return "";
  return el("p", { class: "note changed", dir: "auto" }, el("b", {}, "What changed: "), changed.text, " ",
    el("button", { type: "button", class: "as-link", onclick: () => live.ask({ look: changed.continues }) }, "Show the earlier answer"));
}

/** A button that rules out a candidate; the first one is the answer itself. */
export function notThere(one, rank, answer, live) {
  const name = placeName(one) || "this place";
  const place = rank === 0 && !answer.abstained ? true : areaOf(one);
  if (!place) return "";
  const from = `not-there-${rank}`;
  const title = `Not ${one.place || one.city || one.region || one.country || "there"}`;
  return el("button", { type: "button", id: from, class: "small-button", "aria-label": `Not there: ${name} is ruled out, and the photo is looked at again`,
    onclick: () => live.ask({ notThere: place, title, from }) }, "Not there");
}

/** Where a step says what became of it. `from` is the id of its field or button. */
export const stepStatus = (from) => el("div", { id: `${from}-status`, class: "step-status small", role: "status" });

/** The step goes on: nothing is said beside it any more. */
export const clearStep = ({ from }) => byId(`${from}-status`)?.replaceChildren();

/** Say beside a step what became of it, with what was written into its field; `wrong` where it was refused or failed. */
export function tellStep({ from, fact, claims }, words, wrong = false) {
  const [field, status] = [byId(from), byId(`${from}-status`)];
  if (!field || !status) return;
  fill(status, words);
  status.classList.toggle("wrong", wrong);
  if (field.matches("input")) {
    field.value ||= fact ?? claims?.[0] ?? "";
    field.setAttribute("aria-invalid", String(wrong));
  }
  field.focus({ preventScroll: true });
  status.scrollIntoView({ block: "nearest" });
}

function areaOf({ lat, lon, radius_km: radius, city, place, country_code: code }) {
  if (city || place || !code) return { kind: "circle", centre: { lat, lon }, radius_km: Math.min(100, Math.max(5, radius.p50)) };
  return { kind: "countries", codes: [code] };
}

/** The ways on, at the top of an answer: each leads to its form below. */
export function stepLinks() {
  const to = (id, words) => el("button", { type: "button", class: "small-button", onclick: () => {
    byId(id).focus({ preventScroll: true });
    byId(id).scrollIntoView({ block: "center" });
  } }, words);
  return el("p", { class: "step-links" }, to("again-claim", "Check a claim"), to("again-fact", "Add what you know"));
}

/** The forms at the end of an answer. */
export function goOn(live, answer) {
  const photos = answer.provenance.photo_sha256.length > 1 ? "these photos" : "this photo";
  return el("section", { class: "again", "aria-label": `Go on with ${photos}` },
    form("again-fact", "Add what you know by now, and look again", "in your words: “taken in Ticino”, “not in Italy”. It is compared with the photo.", "Look again",
      1000, (fact, from) => live.ask({ fact, title: `Added: ${fact}`, from })),
    form("again-claim", `Check a claim about ${photos}`, "where somebody says it was taken: Kharkiv, or 50.6, 36.6, 20", "Check", 400, (claim, from) => live.ask({ claims: [claim], from })));
}

function form(id, label, note, verb, limit, ask) {
  const field = el("input", { type: "text", id, maxlength: limit, autocomplete: "off", "aria-describedby": `${id}-note ${id}-status`,
    oninput: () => field.removeAttribute("aria-invalid") });
  const submit = (event) => {
    event.preventDefault();
    if (field.value.trim()) ask(field.value.trim(), id);
    else field.focus();
  };
  return el("form", { onsubmit: submit }, el("p", { class: "field" }, el("label", { for: id }, label), field, el("small", { id: `${id}-note` }, note)), el("button", {}, verb), stepStatus(id));
}
