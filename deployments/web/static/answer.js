// The answer: where, how exactly, how sure, and what a person can check.

import { checkedEvidence, checkedHeadline } from "./check_result.js";
import { bar, byId, coordinates, copy, count, cut, distance, download, el, fact, fill, link, percent, placeName, sentence } from "./dom.js";
import { egressSummary } from "./egress.js";
import { blindWords } from "./engine.js";
import { evidenceList } from "./evidence.js";
import { goOn, notThere, stepLinks, stepStatus, whatChanged } from "./next_steps.js";
import { linkOf } from "./links.js";
import { geoAddress, sexagesimal, utm } from "./notations.js";
import { answeredWords, ofModels, plain } from "./words.js";
import { hue } from "./worldmap.js";

const LEVELS = { none: "", country: "the country", region: "the region", city: "the town", point: "the spot" };
const STOPS = {
  deadline: "The time was up: this is the best answer so far.",
  budget: "The budget was used up: this is the best answer so far.",
  cancelled: "The request was stopped: this is the best answer so far.",
};

/** Show it. `live` has the pictures and the lanes; `client` gets GeoJSON and erases. */
export function showAnswer(answer, live, client, photos) {
  const id = live.pictures.request;
  const section = byId("answer");
  fill(section,
    whatChanged(answer, live),
    contradictions(answer),
    answer.check ? checkedHeadline(answer, live) : headline(answer),
    stepLinks(),
    eachPhoto(answer),
    warnings(answer),
    photoStrip(photos, live),
    isOnMap(answer) ? byId("map") : "",
    answer.check ? [checkedEvidence(answer.check, live), headline(answer)] : "",
    answer.abstained ? "" : notations(answer),
    egressSummary(live.egressEvent),
    answer.explanation ? [el("h3", {}, "Why"), el("p", { dir: "auto" }, plain(answer.explanation))] : [],
    candidates(answer, live),
    answerEvidence(answer, live),
    provenance(answer),
    goOn(live, answer),
    actions(answer, id, client, section),
  );
  section.hidden = false;
  byId("answer-title").focus({ preventScroll: true });
  section.scrollIntoView({ block: "start" });
}

const TRANSFERRED = "the radius is an estimate: it was fitted to answers of other engines; the operator of the service can fit it to this one (geotts accept)";

const CONTINENT_KM = 2500; // a 90 % radius that is wider tells nobody where to look: words stand for it
const OPEN = "it may also be on another continent";

/** Whether the 90 % radius is wider than a continent. */
export const isOpen = (radius) => radius.p90 > CONTINENT_KM;

/** Whether there is anything to show on a map. */
export const isOnMap = (answer) => !answer.abstained || answer.candidates.length > 0 || Boolean(answer.check);

/** What the star, the circles or areas and the outline on the map are, in words. */
export function mapWords(answer) {
  if (answer.abstained) return {};
  const area = isArea(answer);
  const stands = area ? `star: a point that stands for ${LEVELS[answer.level]}` : answer.town_centre ? "star: the centre of the town" : "star: the answer";
  return { point: stands, areas: `${areas(answer)}. ${BY_DISTANCE}`, ...(area ? { outline: `thick outline: ${answer.region || answer.country}, all that is known` } : {}) };
}

/** Where the 90 % circle is wider than a continent, the 50 % ones are drawn. */
function areas(answer) {
  const estimated = isTransferred(answer);
  if (isOpen(answer.radius_km) && answer.region_50) return `areas: ${estimated ? "the estimate, one of them" : `${PROBABLY} one of them`}; ${OPEN}`;
  if (isOpen(answer.radius_km)) return `circle: ${estimated ? "the estimated radius" : PROBABLY}; ${OPEN}`;
  if (answer.region_90) return `areas with ${estimated ? "an edge: the estimate, one of them" : `a firm edge: ${PROBABLY} one of them · with a dashed edge: very probably`}`;
  return estimated ? "circles: the estimated radius" : `firm circle: ${PROBABLY} · dashed circle: very probably`;
}

const PROBABLY = "it is probably inside";
const BY_DISTANCE = "Circles and areas are distances from points: they cross borders and coasts";

/** Whether an answer knows a country or a region and no more, so that its point only stands for it. */
const isArea = (answer) => !answer.abstained && ["country", "region"].includes(answer.level);

/** How the wider radius is worded: as probable only where it was fitted. */
const within = (answer, radius) =>
  isOpen(radius) ? OPEN : `${isTransferred(answer) ? "within about" : "very probably within"} ${distance(radius.p90)}`;

/** Whether radius and confidence were fitted to other engines than the one that answered. */
const isTransferred = (answer) => answer.calibration?.state === "transferred";

/** Title, point and radius. Under a check it is the second thing on the page, and its confidence would be a second one. */
function headline(answer) {
  const title = (words) => (answer.check ? el("h3", { dir: "auto" }, `Found without the claim: ${words}`)
    : el("h2", { id: "answer-title", tabindex: "-1", dir: "auto" }, words));
  const name = placeName(answer);
  const about = (answer.contradictions ?? []).map((one) => one.about);
  if (about.includes("photos")) {
    return el("header", {}, title("These photos do not fit one place"), el("p", { class: "lead" }, "What each photo says by itself is listed below."));
  }
  const best = answer.candidates.some((one) => one.outside) ? " The best place outside it is listed under Candidates." : "";
  if (about.includes("within")) {
    return el("header", {}, title("The photo does not fit the area you gave"),
      el("p", { class: "lead" }, `Nothing supports a place inside that area.${best}`));
  }
  if (answer.abstained) {
    const known = name ? `The evidence only supports ${name}.` : "Nothing in the photo supports a place, so there is no answer.";
    return el("header", {}, title("It is not known where this is"),
      el("p", { class: "lead" }, best ? `Nothing that was found supports a place inside the area you gave.${best}` : known),
      seen(answer), el("p", { class: "soft" }, "A photo with text in it, a second photo of the same place or a hint may help."));
  }
  const area = isArea(answer);
  const radius = answer.radius_km;
  const transferred = isTransferred(answer);
  const exactness = transferred
    ? [fact("Radius", isOpen(radius) ? `${distance(radius.p50)} or more` : `${distance(radius.p50)} to ${distance(radius.p90)}`,
      isOpen(radius) ? `${OPEN}; ${TRANSFERRED}` : TRANSFERRED)]
    : [fact("Radius", distance(radius.p50), `${area ? "around a point that stands for it; " : answer.town_centre ? "around the centre of the town; " : ""}the true place is probably inside; ${
      isOpen(radius) ? OPEN : `very probably within ${distance(radius.p90)}`}`),
      answer.check || !percentageAdds(answer, radius) ? "" : fact("Confidence", percent(answer.confidence), `that the true place is within ${distance(answer.target_radius_km)}`,
        bar(answer.confidence, "Confidence"))];
  return el("header", {}, title(name ? `${isOpen(radius) ? "Perhaps " : ""}${name}` : "An unnamed place"),
    area ? el("p", { class: "lead" }, `Only ${LEVELS[answer.level]} is known${isOpen(radius) ? ", and that is not certain" : ""}. The photo may be from anywhere in it.`)
      : el("p", { class: "lead" }, pointOf(answer)),
    el("dl", { class: "facts" }, [exactness, LEVELS[answer.level] ? fact("Precision", knownTo(answer), answeredWords(answer)) : ""]),
    area ? el("p", { class: "soft small stands-for" }, "For programs that need a point: ", pointOf(answer), ` It only stands for ${LEVELS[answer.level]}.`)
      : answer.town_centre ? el("p", { class: "soft small stands-for" }, "The point is the centre of the town. The photo may be from anywhere in it; a large town reaches beyond this radius.") : "");
}

/** Whether the confidence, which is for the wanted radius, says more than the radii: one certainty is enough. */
const percentageAdds = (answer, radius) => answer.target_radius_km < radius.p50;

function pointOf(answer) {
  const point = coordinates(answer);
  return [el("code", { class: "point" }, point), " ", copying(point, "Copy"), " ", copying(geoAddress(answer, answer.radius_km.p90), "Copy as geo:")];
}

/** What the engine that answered cannot see, beside an answer that names nothing. */
function seen(answer) {
  const message = blindWords(answer.provenance.engine);
  return message ? el("p", { class: "note sees" }, message) : "";
}

/** A button that copies, and says whether it could. */
function copying(text, words) {
  const message = el("span", { role: "status", class: "soft small" });
  const button = el("button", { type: "button", class: "small-button", onclick: async () => {
    message.textContent = (await copy(text)) ? " copied" : " could not copy: select it and copy it yourself";
  } }, words);
  return el("span", {}, button, message);
}

/** The point as people write it elsewhere. */
function notations(answer) {
  const rows = [["Decimal degrees", coordinates(answer, 6)], ["Degrees, minutes, seconds", sexagesimal(answer)], ["UTM (WGS-84)", utm(answer)],
    ["geo: address", geoAddress(answer, answer.radius_km.p90)]].filter(([, text]) => text);
  return el("details", { class: "small" }, el("summary", {}, "Coordinates in other notations"),
    el("dl", { class: "notations" }, rows.map(([name, text]) => [el("dt", {}, name), el("dd", {}, el("code", {}, text)), el("dd", {}, copying(text, "Copy"))])));
}

/** The level in words; a town's centre stands for the town. */
const knownTo = (answer) => LEVELS[answer.level === "point" && answer.town_centre ? "city" : answer.level];

/** What was found against the area, the hint or the photos; above everything else. */
function contradictions(answer) {
  return (answer.contradictions ?? []).map((contradiction) =>
    el("p", { class: "note warn contradiction", role: "alert", dir: "auto" }, cut(contradiction.text, 1000)));
}

function eachPhoto(answer) {
  const photos = answer.per_photo ?? [];
  if (!photos.length) return [];
  const rows = photos.map((one) => el("li", { class: "candidate" },
    el("b", { dir: "auto" }, `Photo ${one.photo + 1}: ${one.abstained ? "not known" : placeName(one) || "unnamed"}`),
    one.abstained ? "" : el("p", { class: "soft small" }, isArea(one) ? `only ${LEVELS[one.level]} is known` : [el("code", {}, coordinates(one, 4)),
      ` · ${within(answer, one.radius_km)}`, isTransferred(answer) || !percentageAdds(answer, one.radius_km) ? "" : ` · ${percent(one.confidence)} sure that it is within ${distance(answer.target_radius_km)}`])));
  const remark = isTransferred(answer) ? el("p", { class: "soft small" }, TRANSFERRED) : "";
  return [el("h3", {}, "Each photo alone"), remark, el("ol", { class: "candidates each-photo" }, rows)];
}

/** Of what was not done, only failures are shown at once; the rest is under "How it was made". */
const isFailure = (undone) => /^rollout \d+ failed/.test(undone);

function warnings(answer) {
  const lines = [...answer.warnings, STOPS[answer.stop_reason] ?? ""];
  for (const claim of answer.file_claims ?? []) {
    if (claim.point) lines.push(`The metadata of the file says ${coordinates(claim.point)}. This was not used.`);
  }
  const shown = (words, kind) => el("p", { class: `note ${kind}`, dir: "auto" }, plain(cut(words, 1000)));
  return [lines.filter(Boolean).map((words) => shown(sentence(words), "warn")), answer.undone.filter(isFailure).map((what) => shown(sentence(what), "small"))];
}

/** The photos, small; each opens in the viewer. */
function photoStrip(photos, live) {
  if (!photos.length) return "";
  return el("div", { class: "photo-strip" }, photos.map((photo, number) => el("button", { type: "button", "aria-haspopup": "dialog",
    "aria-label": `Look at photo ${number + 1} closely`, onclick: () => live.viewer.open(photos, number) },
  el("img", { src: photo.preview, alt: "", class: "photo" }))));
}

/** How many attempts stand behind a candidate, in words. */
function backing(one, answer) {
  const of = answer.n.answered > one.rollouts.length ? ` of ${answer.n.answered}` : "";
  return one.rollouts.length === 1 && !of ? "1 attempt" : `${one.rollouts.length}${of} attempts${ofModels(answer.rollouts)}`;
}

function candidates(answer, live) {
  if (!answer.candidates.length) return [];
  const rows = answer.candidates.map((one, rank) => {
    const place = rank || answer.abstained ? linkOf.candidate(rank) : linkOf.answer();
    return el("li", { class: "candidate", "data-link": `${place} ${one.rollouts.map(linkOf.rollout).join(" ")}` },
      el("div", {}, el("b", { dir: "auto" }, placeName(one) || "unnamed"), one.outside ? el("span", { class: "soft small" }, " outside the area you gave") : "",
        ` · ${backing(one, answer)} `, one.rollouts.map((id) => el("span", { class: `swatch ${hue(id)}`, title: `attempt ${id}` }, id))),
      el("div", { class: "weight" }, bar(one.support, "Share of the weighted votes"), el("span", { class: "soft small" }, "share of the weighted votes")),
      el("p", { class: "soft small" }, el("code", {}, coordinates(one, 4)), ` · ${within(answer, one.radius_km)} · `,
        el("button", { type: "button", class: "as-link", onclick: () => live.map.pick(place) }, "show on the map"), " ", notThere(one, rank, answer, live)),
      stepStatus(`not-there-${rank}`),
      one.dissent.length ? el("ul", { class: "dissent" }, one.dissent.map((words) => el("li", { dir: "auto" }, `Against: ${cut(words, 500)}`))) : "",
      rank === 0 && answer.candidates.length === 1 && !one.dissent.length ? el("p", { class: "soft small" }, "There is no other candidate.") : "");
  });
  return [el("h3", {}, "Candidates"), el("ol", { class: "candidates" }, rows)];
}

function answerEvidence(answer, live) {
  const list = answer.evidence.length ? evidenceList(answer.evidence, live)
    : el("p", { class: "soft" }, "None: nothing that could be checked was found.");
  if (answer.check) return el("details", {}, el("summary", {}, "Evidence of the answer, without the claim"), list);
  return [el("h3", {}, "Evidence"), list];
}

/** What the request used of its budget. */
function budgetWords({ budget, tokens, seconds, money_usd: money }) {
  const used = [[tokens, budget.tokens, "tokens of text"], [seconds?.toFixed(1), budget.seconds, "s"], [money?.toFixed(4), budget.money_usd, "US dollars"]];
  return used.filter(([, of]) => of !== null && of !== undefined).map(([what, of, unit]) => `${what ?? "?"} of ${of} ${unit}`).join(", ");
}

/** What the attempts of one model of a mixture used. */
function modelWords({ model, rollouts, usage }) {
  const money = usage.cost_usd ? `, $${usage.cost_usd.toFixed(4)}` : "";
  return `${cut(model, 40)}: ${count(rollouts, "attempt")}, ${count(usage.turns, "step")}, ${usage.completion_tokens} tokens of text${money}`;
}

function provenance(answer) {
  const known = answer.provenance;
  const rows = [
    ["took", `${answer.timing.total_s.toFixed(1)} s, ${count(answer.usage.turns, "step")}, ${count(answer.usage.tool_calls, "tool call")}, ${answer.usage.completion_tokens} tokens of text${answer.usage.cost_usd ? `, $${answer.usage.cost_usd.toFixed(4)}` : ""}`],
    ["used by each model", (answer.usage_by_model ?? []).map(modelWords).join("; ")],
    ["attempts", `${answer.n.asked} requested, ${answer.n.planned} planned, ${answer.n.run} started; ${answeredWords(answer)}`],
    ["not done", plain(answer.undone.map(sentence).join(" "))],
    ["radii", answer.radius_km ? `half of such answers lie within ${distance(answer.radius_km.p50)}, nine of ten within ${distance(answer.radius_km.p90)}` : ""],
    ["depth", answer.route ? `${answer.route.plan.depth}: ${answer.route.plan.reason}` : ""],
    ["budget", answer.budget ? budgetWords(answer.budget) : ""],
    ["engine", known.model && known.model !== known.engine ? `${known.engine} ${known.model}` : known.engine],
    ["form of requests", known.dialect],
    ["compared by", known.verifier],
    ["providers", known.providers.join(", ")],
    ["start number", String(known.seed)],
    ["answered", known.answered_at],
    ["photo", known.photo_sha256.join(" ")],
    ["version", `GeoTTS ${known.version}`],
  ];
  return el("details", { class: "provenance" }, el("summary", {}, "How it was made"),
    el("dl", {}, rows.filter(([, value]) => value).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

function actions(answer, id, client, section) {
  const message = el("span", { role: "status", class: "small" });
  const guarded = (work) => async () => {
    try {
      await work();
    } catch (error) {
      message.textContent = error.advice ?? "The service does not answer.";
    }
  };
  const button = (words, work) => el("button", { type: "button", onclick: guarded(work) }, words);
  const map = answer.abstained ? "" : link(
    `https://www.openstreetmap.org/?mlat=${answer.lat.toFixed(5)}&mlon=${answer.lon.toFixed(5)}#map=10/${answer.lat.toFixed(5)}/${answer.lon.toFixed(5)}`,
    "Open on openstreetmap.org");
  const whole = `${JSON.stringify({ request_id: id, answer }, null, 2)}\n`;
  return el("div", { class: "actions" },
    button("Answer as JSON", () => download(`${id}.json`, whole, "application/json")),
    button("GeoJSON", async () => download(`${id}.geojson`, await client.geojson(id), "application/geo+json")),
    button("KML", async () => download(`${id}.kml`, await client.exported(id, "application/vnd.google-earth.kml+xml"), "application/vnd.google-earth.kml+xml")),
    button("CSV", async () => download(`${id}.csv`, await client.exported(id, "text/csv"), "text/csv")),
    button("Report", async () => download(`${id}.html`, await client.report(id), "text/html")),
    button("Print", async () => print()),
    button("Erase from the service", async () => {
      await client.cancel(id, { erase: true });
      document.dispatchEvent(new Event("geotts-erased"));
      fill(section.querySelector(".actions"),
        el("p", { role: "status" }, "Erased: the service has deleted the photo, the answer and everything in between."));
    }),
    map, message);
}
