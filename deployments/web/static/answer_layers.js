// What is drawn of an answer: its regions as the service computes them, where the evidence lies, and what was claimed.

import { isOnMap, isOpen, mapWords } from "./answer.js";
import { byId } from "./dom.js";
import { linkOf } from "./links.js";

/** Draw it, unless `isShown()` is no longer true when everything is there. */
export async function showOnMap(answer, live, { client, map, isShown }) {
  if (!isOnMap(answer)) {
    byId("map").hidden = true;
    return;
  }
  const check = answer.check;
  const items = [...answer.evidence, ...(check ? [...check.evidence_for, ...check.evidence_against] : [])];
  const places = items.flatMap((item) => live.placesOf(item).map(({ point }) => ({ point, words: `Evidence: ${item.claim}`.slice(0, 200),
    link: linkOf.call(live.laneOf(item), item.call_id) })));
  const once = [...new Map(places.map((place) => [`${place.link} ${place.point.lat} ${place.point.lon}`, place])).values()];
  const words = mapWords(answer);
  const area = words.outline !== undefined;
  // outlines may take a moment
  if ((check || area) && isShown()) await map.answer(answer, { regions: [], evidence: once, outlines: [], words: { ...words, areas: "", ...(area ? { outline: "" } : {}) } });
  const drawn = answer.abstained && !check ? [] : JSON.parse(await client.geojson(live.pictures.request)).features;
  const role = answer.abstained || isOpen(answer.radius_km) ? /^(region|radius)_50$/ : /^(region|radius)_(50|90)$/;
  const regions = drawn.filter((feature) => feature.geometry && role.test(feature.properties.role));
  const finer = regions.filter((feature) => feature.properties.role.startsWith("region"));
  const outlines = drawn.filter((feature) => feature.geometry && feature.properties.role === "claimed" && feature.properties.outline);
  const known = drawn.filter((feature) => feature.properties.role === "known");
  if (area && !known.length) words.outline = "";
  if (isShown()) await map.answer(answer, { regions: answer.abstained ? [] : finer.length ? finer : regions, evidence: once, outlines, known, words });
}
