// How a person goes on from an answer: rule a place out, add what is known by now, or check a claim.

import { el, placeName } from "./dom.js";

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
  return el("button", { type: "button", class: "small-button", "aria-label": `Not there: ${name} is ruled out, and the photo is looked at again`,
    onclick: () => live.ask({ notThere: place, title: `Not ${one.place || one.city || one.region || one.country || "there"}` }) }, "Not there");
}

function areaOf({ lat, lon, radius_km: radius, city, place, country_code: code }) {
  if (city || place || !code) return { kind: "circle", centre: { lat, lon }, radius_km: Math.min(100, Math.max(5, radius.p50)) };
  return { kind: "countries", codes: [code] };
}

/** The forms at the end of an answer. */
export function goOn(live, answer) {
  const photos = answer.provenance.photo_sha256.length > 1 ? "these photos" : "this photo";
  return el("section", { class: "again", "aria-label": `Go on with ${photos}` },
    form("again-fact", "Add what you know by now, and look again", "in your words: “taken in Ticino”, “not in Italy”. It is compared with the photo.", "Look again",
      1000, (fact) => live.ask({ fact, title: `Added: ${fact}` })),
    form("again-claim", `Check a claim about ${photos}`, "where somebody says it was taken: Kharkiv, or 50.6, 36.6, 20", "Check", 400, (claim) => live.ask({ claims: [claim] })));
}

function form(id, label, note, verb, limit, ask) {
  const field = el("input", { type: "text", id, maxlength: limit, autocomplete: "off", "aria-describedby": `${id}-note` });
  const submit = (event) => {
    event.preventDefault();
    if (field.value.trim()) ask(field.value.trim());
    else field.focus();
  };
  return el("form", { onsubmit: submit }, el("p", { class: "field" }, el("label", { for: id }, label), field, el("small", { id: `${id}-note` }, note)), el("button", {}, verb));
}
