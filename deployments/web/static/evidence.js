// Pieces of evidence: what is stated, the quote and the page, and the way to the attempt and the place behind it. Those
// that rest on one line of text stand together: they are one clue, however much was looked up about it.

import { count, cut, el, link } from "./dom.js";
import { linkOf } from "./links.js";

const SIDES = { for: "For", against: "Against", unsupported: "Stated, not confirmed by a tool" };
const POINT = "the point itself";

const sideOf = (item) => (!item.grounded ? "unsupported" : item.supports ? "for" : "against");

/** The list of evidence, grouped by the text behind it. `live` has the lanes, the map and what was read. */
export function evidenceList(items, live) {
  const groups = new Map();
  for (const item of items) {
    const clue = clueOf(item, live);
    const key = clue === null ? item : `${sideOf(item)} ${clue}`;
    groups.set(key, { clue, items: [...(groups.get(key)?.items ?? []), item] });
  }
  return el("ul", { class: "evidence" }, [...groups.values()].map((group) => (group.items.length > 1 ? together(group, live) : alone(group.items[0], live))));
}

/** The lines of text that pieces of evidence rest on, each once. */
export function cluesBehind(items, live) {
  return [...new Set(items.filter((item) => item.grounded).map((item) => clueOf(item, live)))].filter((clue) => clue !== null && clue !== POINT);
}

/** The line of text in the photo that is quoted or was looked up, or the point where a tool was asked about that. */
function clueOf(item, live) {
  const line = live.lineBehind?.(item) ?? null;
  return line ?? (/^the point lies /.test(item.claim) ? POINT : null);
}

function together({ clue, items }, live) {
  const side = sideOf(items[0]);
  const links = [...new Set(items.flatMap((item) => linksOf(item, live)))];
  const heading = clue === POINT ? el("b", {}, "About the point") : [el("b", {}, "Text in the photo: "), el("q", { dir: "auto" }, cut(clue, 300))];
  return el("li", { class: `box group ${side}`, "data-link": links.join(" ") || null },
    el("p", {}, heading), el("p", { class: "soft small source" }, el("b", {}, SIDES[side]), ` · ${count(items.length, "finding")}${clue === POINT ? "" : " from this one text"}`),
    el("ul", { class: "findings" }, items.map((item) => el("li", { "data-link": linksOf(item, live).join(" ") || null }, content(item, live, clue)))));
}

const alone = (item, live) => el("li", { class: `box ${sideOf(item)}`, "data-link": linksOf(item, live).join(" ") || null }, content(item, live, null, SIDES[sideOf(item)]));

function laneOf(item, live) {
  const lane = live.laneOf(item);
  return lane !== null && live.lanes.has(lane) ? lane : null;
}

function linksOf(item, live) {
  const lane = laneOf(item, live);
  if (lane === null) return [];
  return [item.call_id ? linkOf.call(lane, item.call_id) : "", linkOf.rollout(lane)].filter(Boolean);
}

/** One finding. A quote that is the line in the heading is not repeated; `word` says which side it is on. */
function content(item, live, heading = null, word = "") {
  const lane = laneOf(item, live);
  const shown = lane === null ? ""
    : el("button", { type: "button", class: "as-link", onclick: () => live.reveal(lane, item.call_id) }, item.rollout_id === null ? "comparison" : `attempt ${lane}`);
  const onMap = lane !== null && item.call_id && live.placesOf(item).length
    ? el("button", { type: "button", class: "as-link", onclick: () => live.map.pick(linkOf.call(lane, item.call_id)) }, "show on the map") : "";
  const source = [word ? el("b", {}, word) : "", item.tool ? el("code", {}, item.tool) : "", shown, onMap,
    item.retrieved_at ? el("time", { datetime: item.retrieved_at }, item.retrieved_at.replace("T", " ").replace("Z", " UTC")) : ""].filter(Boolean);
  return [
    el("p", { dir: "auto" }, cut(item.claim, 1500)),
    item.quote && item.quote !== heading ? el("blockquote", { dir: "auto" }, cut(item.quote, 1500)) : "",
    item.url ? el("p", { class: "small url" }, link(item.url)) : "",
    source.length ? el("p", { class: "soft small source" }, source.flatMap((part, index) => (index ? [" · ", part] : [part]))) : "",
  ];
}
