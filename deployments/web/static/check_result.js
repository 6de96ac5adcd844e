// What became of a claim: the verdict in plain words, how probable it is, the best place elsewhere, and the evidence.

import { bar, coordinates, cut, distance, el, fact, percent, placeName } from "./dom.js";
import { cluesBehind, evidenceList } from "./evidence.js";
import { linkOf } from "./links.js";
import { apart } from "./notations.js";
import { ofModels } from "./words.js";

const WHY = {
  indeterminate: "The evidence points both ways: some of it speaks for the claim, and some against it.",
  inconclusive: "There is too little evidence to decide it.",
  not_feasible: "Nothing in the photo says where it was taken.",
};
const VERDICTS = { supported: "supported", contradicted: "contradicted", not_decidable: "cannot be decided" };

/** The verdict about a claim in two words, also for the list of a case. */
export const verdictWords = (verdict) => VERDICTS[verdict] ?? verdict;

/** Above everything else: the verdict, how sure it is, and what was claimed. */
export function checkedHeadline({ check, n, rollouts }, live) {
  const several = check.places.length > 1;
  return el("header", { class: `checked ${check.verdict}` },
    el("h2", { id: "answer-title", tabindex: "-1", dir: "auto" }, title(check)),
    check.verdict === "not_decidable" ? el("p", { class: "lead" }, WHY[check.kind] ?? WHY.inconclusive) : "",
    check.calibrated ? "" : el("p", { class: "note" }, "There are no odds: nothing was calibrated for this engine. Only the evidence is shown. The operator of the service can calibrate it with “geotts accept”."),
    el("dl", { class: "facts" }, several ? "" : probability(check), alternative(check, live), agreement(check, n, rollouts)),
    oneClue(check, live),
    several ? compared(check, live) : understood(check.places[0], live));
}

function title({ places, verdict, likeliest }) {
  const one = places.length === 1;
  const name = named(places[likeliest ?? 0]);
  if (verdict === "supported") return one ? `The photo supports the claim: ${name}` : `Of these places, the photo supports ${name}`;
  if (verdict === "contradicted") return one ? `The photo contradicts the claim: ${name}` : "The photo contradicts all of these places";
  return one ? `It cannot be decided whether this is ${name}` : "It cannot be decided which of these places it is";
}

/** A place within a sentence. */
const named = ({ place }) => (place.startsWith("within ") ? `a place ${place}` : place);

function probability({ mass, odds }) {
  if (mass === null || odds === null) return "";
  return fact("Probability", share(mass), `that it was taken there: ${oddsWords(odds)}`, bar(mass, "Probability that it was taken there"));
}

/** That the odds rest on one text, where they do: a second one could change them much. */
function oneClue({ calibrated, evidence_for: pro, evidence_against: con }, live) {
  const clues = calibrated ? cluesBehind([...pro, ...con], live) : [];
  return clues.length === 1 ? el("p", { class: "note one-clue" }, "This rests on one clue, the text ", el("q", { dir: "auto" }, cut(clues[0], 300)), ". If it is misread, or stands for something else, nothing else supports the odds.") : "";
}

const share = (mass) => (mass < 0.01 ? "below 1 %" : mass > 0.99 ? "above 99 %" : percent(mass));

/** “about 150 to 1 for it”. */
export function oddsWords(odds) {
  const [ratio, side] = odds >= 1 ? [odds, "for it"] : [1 / odds, "against it"];
  const figure = Number(ratio.toPrecision(2));
  return figure === 1 ? "one to one" : `about ${figure.toLocaleString("en")} to 1 ${side}`;
}

function alternative({ alternative: other, places }, live) {
  if (!other) return fact("Best place elsewhere", "none", "nothing else is likely");
  const middle = places.length === 1 ? centreOf(places[0].areas[0]) : null;
  const far = middle ? `, ${distance(apart(middle, other))} from the claim` : "";
  return fact("Best place elsewhere", placeName(other) || "unnamed", `${coordinates(other, 3)}${far}`,
    el("button", { type: "button", class: "as-link", onclick: () => live.map.pick(linkOf.alternative()) }, "show on the map"));
}

function agreement({ blind, testing, places }, { answered }, rollouts) {
  const models = ofModels(rollouts).trim();
  const which = places.length > 1 ? "a claimed place" : "the claimed place";
  const tested = testing.answered ? `, and ${testing.inside} of ${testing.answered} that tested it` : "";
  return answered ? fact("Attempts", `${blind.inside} of ${blind.answered}`, `${models ? `${models}, which knew nothing of the claim,` : "that knew nothing of the claim"} came to ${which}${tested}`) : "";
}

/** The claim in its own words, and what was taken from them. */
function understood(place, live) {
  const reading = place.claim && place.claim !== place.place ? ["“", el("q", { dir: "auto" }, cut(place.claim, 400)), "” is understood as "] : "";
  return el("p", { class: "soft small", "data-link": linkOf.claim(0) }, reading, el("b", {}, named(place)), place.kind === "area" ? ". " : `, ${extent(place)}. `, onMap(place, 0, live));
}

function onMap(place, number, live) {
  return el("button", { type: "button", class: "as-link", onclick: () => live.map.pick(linkOf.claim(number)) }, "show on the map");
}

function extent({ kind, areas }) {
  if (kind === "country") return areas[0].codes?.length > 1 ? "countries" : "a country";
  if (kind === "region") return "a region";
  const [area] = areas;
  if (area.kind !== "circle") return "the area between these parallels and meridians";
  const more = areas.length > 1 ? `, one of ${areas.length} of this name` : "";
  return `within ${distance(area.radius_km)} of ${coordinates(area.centre, 3)}${more}`;
}

/** Several places: each with its own verdict, the likeliest first. */
function compared(check, live) {
  const rows = check.places.map((place, number) => ({ place, number }))
    .sort((a, b) => (b.place.mass ?? 0) - (a.place.mass ?? 0) || (b.place.share ?? 0) - (a.place.share ?? 0));
  return el("ol", { class: "candidates compared" }, rows.map(({ place, number }) => el("li", { class: `candidate ${place.verdict}`, "data-link": linkOf.claim(number) },
    el("div", {}, el("b", { dir: "auto" }, place.place), ` · ${verdictWords(place.verdict)}`),
    place.mass === null ? "" : el("div", { class: "weight" }, bar(place.mass, `Probability of ${place.place}`), el("span", { class: "small" }, `${share(place.mass)} probable`)),
    check.verdict === "not_decidable" && place.share !== null ? el("p", { class: "soft small" }, `${share(place.share)}, if it is one of these`) : "",
    el("p", { class: "soft small" }, place.kind === "area" ? "" : `${extent(place)}. `, onMap(place, number, live)))));
}

/** What speaks for the claim and what against it, each with the way to where it was found. */
export function checkedEvidence(check, live) {
  const list = (heading, items, none) => [el("h3", {}, heading),
    items.length ? evidenceList(items, live) : el("p", { class: "soft" }, none)];
  const what = check.places.length > 1 && check.likeliest !== null ? named(check.places[check.likeliest]) : "the claim";
  return [list(`For ${what}`, check.evidence_for, "Nothing was found that speaks for it."),
    list(`Against ${what}`, check.evidence_against, "Nothing was found that speaks against it.")];
}

/** The middle of a circle or a rectangle; null for countries. */
export function centreOf(area) {
  if (area.kind === "circle") return area.centre;
  if (area.kind !== "bbox") return null;
  const wide = (((area.east - area.west) % 360) + 360) % 360;
  return { lat: (area.south + area.north) / 2, lon: ((((area.west + wide / 2 + 180) % 360) + 360) % 360) - 180 };
}
