// The form and the life of one request: idle → running → answered, failed or cancelled.

import { showAnswer } from "./answer.js";
import { Client, GRACE_S } from "./client.js";
import { byId, el, fill } from "./dom.js";
import { Live } from "./live.js";
import { Photos } from "./photos.js";
import { Problem, unreachable } from "./problems.js";
import { engineWords } from "./engine.js";
import { startLinking } from "./links.js";
import { forgetConsent, offerRegionSearch } from "./regions.js";
import { Viewer } from "./viewer.js";
import { WorldMap } from "./worldmap.js";

const KEY = "geotts-key";
const DEPTHS = {
  auto: "as much work as the photo needs",
  direct: "one look, no tools: fast",
  standard: "a few rollouts, a few turns",
  deep: "every rollout, all tools: slow and thorough",
};

const client = new Client(() => byId("key").value.trim());
const photos = new Photos(complain);
const viewer = new Viewer();
const map = new WorldMap();
let running = null; // { abort, id, cancelled, live }
let last = null; // the live view of the request before

function complain(words) {
  byId("complaint").textContent = words;
  byId("complaint").hidden = !words;
}

function askForKey() {
  byId("key-field").hidden = false;
}

function busy(on) {
  const stopping = document.activeElement === byId("stop") || running?.stoppedByFocus;
  byId("go").disabled = on;
  byId("go").textContent = on ? "Working …" : "Locate";
  byId("stop").hidden = !on;
  byId("stop").disabled = false;
  if (on) byId("stop").focus();
  else if (stopping) byId("go").focus({ preventScroll: true }); // a hidden button would drop the focus
}

function checked() {
  complain("");
  if (!photos.files.length) {
    complain("Choose a photo first.");
    byId("photos").focus();
    return null;
  }
  const wrong = [...byId("form").elements].find((field) => field.willValidate && !field.validity.valid);
  if (wrong) {
    complain(`${wrong.labels[0].textContent}: ${wrong.validationMessage}`);
    wrong.closest("details")?.setAttribute("open", "");
    wrong.focus();
    return null;
  }
  const form = new FormData();
  for (const file of photos.files) form.append("image", file, "photo");
  for (const [name, value] of new FormData(byId("form"))) {
    if (value.trim()) form.append(name, value.trim());
  }
  form.append("resume_grace_s", String(GRACE_S));
  return form;
}

async function locate(form) {
  last?.forget();
  for (const id of ["welcome", "problem", "answer"]) byId(id).hidden = true;
  const live = new Live(client, map, viewer);
  const request = { abort: new AbortController(), id: null, cancelled: false, live };
  running = request;
  last = live;
  const clock = startClock();
  busy(true);
  byId("results").scrollIntoView({ block: "start" });
  try {
    const ended = await follow(request);
    if (ended.answer) await answered(ended.answer, live);
    else if (ended.failure) failed(new Problem({ ...ended.failure, type: `urn:geotts:problem:${ended.failure.code}`, title: undefined }), live);
    else live.close("Cancelled.");
  } catch (error) {
    if (request.cancelled) live.close("Cancelled.");
    else failed(error instanceof Problem ? error : unreachable(String(error.message ?? error)), live);
  } finally {
    clearInterval(clock);
    busy(false);
    running = null;
  }

  async function follow(current) {
    const ended = { answer: null, failure: null };
    const events = client.run(form, {
      signal: current.abort.signal,
      onCut: () => live.say("The connection was lost. Connecting again …"),
      onBack: () => live.say("Connected again."),
    });
    for await (const event of events) {
      live.take(event);
      if (event.type === "accepted") current.id = event.request_id;
      if (event.type === "answer") ended.answer = event.answer;
      if (event.type === "error") ended.failure = event;
    }
    return ended;
  }
}

async function answered(answer, live) {
  live.close(`Answered after ${answer.timing.total_s.toFixed(1)} s.`);
  const urls = await Promise.all(live.photos.map((photo) => live.pictures.url(photo.sha256).catch(() => null)));
  const shown = live.photos.map((photo, number) => ({ ...photo, url: urls[number], lines: live.linesOf(number) })).filter((photo) => photo.url);
  showAnswer(answer, live, client, shown);
  showOnMap(answer, live).catch(() => live.withoutMap());
}

/** The answer, its regions as the service draws them, and where the evidence lies. */
async function showOnMap(answer, live) {
  const places = answer.evidence.flatMap((item) => live.placesOf(item).map(({ point }) => ({ point, words: `Evidence: ${item.claim}`.slice(0, 200),
    link: `call-${item.rollout_id}-${item.call_id}` })));
  if (answer.abstained && !answer.candidates.length) {
    byId("map").hidden = true;
    return;
  }
  const drawn = answer.abstained || answer.radius_km.p90 > 2500 ? [] : JSON.parse(await client.geojson(live.pictures.request)).features;
  const regions = drawn.filter((feature) => feature.geometry && /^(region|radius)_(50|90)$/.test(feature.properties.role));
  const finer = regions.filter((feature) => feature.properties.role.startsWith("region"));
  await map.answer(answer, finer.length ? finer : regions, places);
}

function failed(problem, live) {
  live.close("The request ended without an answer.");
  if (live.lanes.size === 0) byId("run").hidden = true;
  if (problem.status === 401) {
    askForKey();
    byId("key").focus();
  }
  const box = byId("problem");
  fill(box, el("h2", {}, problem.title), el("p", { dir: "auto" }, problem.message),
    problem.fields.length ? el("ul", {}, problem.fields.map(({ field, problem: what }) => el("li", {}, el("code", {}, field), `: ${what}`))) : "",
    el("p", {}, el("b", {}, "What to do: "), problem.advice),
    el("p", { class: "soft small" }, problem.status ? `${problem.status} · ${problem.code}` : ""));
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
}

async function cancel() {
  if (!running) return;
  const request = running;
  request.cancelled = true;
  request.stoppedByFocus = document.activeElement === byId("stop"); // disabling the button may drop it
  byId("stop").disabled = true;
  request.live.say("Stopping …");
  setTimeout(() => request.abort.abort(), 8000); // the stream should have ended by itself
  try {
    if (request.id) await client.cancel(request.id);
    else request.abort.abort();
  } catch {
    request.abort.abort();
  }
}

function startClock() {
  const start = performance.now();
  const show = () => {
    byId("clock").textContent = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  };
  show();
  return setInterval(show, 200);
}

function tellDepth() {
  byId("depth-note").textContent = DEPTHS[byId("depth").value];
}

async function introduce() {
  const index = await client.index();
  photos.limits = index.limits;
  byId("rollouts").max = index.limits.rollouts;
  if (index.access === "keys") askForKey();
  offerRegionSearch(index.region_search);
  map.offer(index.map_tiles);
  byId("engine").textContent = engineWords(index.engine);
  const hours = index.retention_s / 3600;
  const kept = hours >= 1 ? `${Math.round(hours)} h` : `${Math.round(index.retention_s)} s`;
  byId("foot").textContent = `GeoTTS ${index.version} · photos and answers are deleted after ${kept}, or at once when you erase them`;
}

function onKey(event) {
  const typing = event.target.matches("input:not([type=checkbox], [type=radio], [type=file]), textarea, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
  else if (event.key === "Escape" && running && !document.querySelector("dialog[open]")) cancel();
  else if (event.key === "?" && !typing && !document.querySelector("dialog[open]")) byId("keys").showModal();
  else return;
  event.preventDefault();
}

startLinking();
addEventListener("keydown", onKey);
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (running) return;
  const form = checked();
  if (!form) return;
  forgetConsent();
  locate(form);
});
byId("stop").addEventListener("click", cancel);
byId("depth").addEventListener("change", tellDepth);
byId("key").value = sessionStorage.getItem(KEY) ?? "";
byId("key").addEventListener("change", () => sessionStorage.setItem(KEY, byId("key").value.trim()));
addEventListener("pagehide", () => {
  if (!running) return;
  running.cancelled = true;
  if (running.id) client.cancel(running.id, { leaving: true }).catch(() => {});
  running.abort.abort();
});
tellDepth();
if (byId("key").value) askForKey();
introduce().catch(() => complain("The service does not answer. Is it still running?"));
