// A piece of evidence: what is stated, the quote and the page, and the way to the rollout and the place behind it.

import { cut, el, link } from "./dom.js";
import { linkOf } from "./links.js";

/** One item of a list. `live` has the lanes and the map. */
export function evidence(item, live) {
  const kind = !item.grounded ? "unsupported" : item.supports ? "for" : "against";
  const word = { for: "For", against: "Against", unsupported: "Stated, not confirmed by a tool" }[kind];
  const lane = live.laneOf(item);
  const known = lane !== null && live.lanes.has(lane);
  const shown = known
    ? el("button", { type: "button", class: "as-link", onclick: () => live.reveal(lane, item.call_id) }, item.rollout_id === null ? "verifier" : `rollout ${lane}`)
    : "";
  const place = known && item.call_id ? linkOf.call(lane, item.call_id) : "";
  const onMap = place && live.placesOf(item).length
    ? el("button", { type: "button", class: "as-link", onclick: () => live.map.pick(place) }, "show on the map") : "";
  const source = [el("b", {}, word), item.tool ? el("code", {}, item.tool) : "", shown, onMap,
    item.retrieved_at ? el("time", { datetime: item.retrieved_at }, item.retrieved_at.replace("T", " ").replace("Z", " UTC")) : ""].filter(Boolean);
  return el("li", { class: `box ${kind}`, "data-link": known ? `${place} ${linkOf.rollout(lane)}`.trim() : null },
    el("p", { dir: "auto" }, cut(item.claim, 1500)),
    item.quote ? el("blockquote", { dir: "auto" }, cut(item.quote, 1500)) : "",
    item.url ? el("p", { class: "small url" }, link(item.url)) : "",
    el("p", { class: "soft small source" }, source.flatMap((part, index) => (index ? [" · ", part] : [part]))));
}
