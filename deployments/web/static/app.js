// The page as a whole: the form, the queue of photos, the case they belong to, and which request is looked at.

import { showAnswer } from "./answer.js";
import { againFeed, firstWrong, photosFeed, refuseFields, startForm, tellWrong } from "./request_form.js";
import { CaseFile } from "./casefile.js";
import { CaseView, listCases } from "./caseview.js";
import { Claims } from "./claims.js";
import { CASE_GRACE_S, Client, GRACE_S } from "./client.js";
import { byId, el } from "./dom.js";
import { engineWords, keptWords, tellWhatIsSeen } from "./engine.js";
import { Feed } from "./feed.js";
import { startLinking } from "./links.js";
import { Live } from "./live.js";
import { clearStep, tellStep } from "./next_steps.js";
import { showOnMap } from "./answer_layers.js";
import { Photos } from "./photos.js";
import { startPrinting } from "./printing.js";
import { asProblem, problemLines, problemOfFeed, showProblem } from "./problem_view.js";
import { Problem } from "./problems.js";
import { forgetConsent, offerRegionSearch } from "./regions.js";
import { Viewer } from "./viewer.js";
import { WorldMap } from "./worldmap.js";

const KEY = "geotts-key";

const client = new Client(() => byId("key").value.trim());
const photos = new Photos(complain);
const claims = new Claims();
const viewer = new Viewer();
const map = new WorldMap();
const caseView = new CaseView(client, { select: (id) => look(id), eraseRun, eraseCase, check: (words, from) => askAgain({ claims: [words], from }) });
let keepsCases = false;
let queue = []; // feeds that are at work or wait
let running = null; // the feed at work
let shown = null; // { feed, live }

function complain(words) {
  byId("error-message").textContent = words;
  byId("error-message").hidden = !words;
  if (words) byId("error-message").scrollIntoView({ block: "nearest" });
}

function askForKey() {
  byId("key-field").hidden = false;
}

function busy(on) {
  const stopping = document.activeElement === byId("stop") || running?.stoppedByFocus;
  byId("go").disabled = on;
  byId("go").textContent = on ? "Working …" : claims.verb;
  byId("stop").hidden = !on;
  byId("stop").disabled = false;
  if (!on && stopping) byId("go").focus({ preventScroll: true }); // a hidden button would drop the focus
}

/** One form for each place: all photos together, or each alone. Null when something is missing or wrong. */
function formsChecked() {
  complain("");
  if (!photos.files.length) {
    complain("Choose a photo first.");
    byId("photos").focus();
    return null;
  }
  const wrong = firstWrong();
  if (wrong) {
    complain(wrong.why);
    tellWrong(wrong.field, wrong.why);
    return null;
  }
  const asked = claims.given;
  return photos.places().map(({ files, title, thumb }) => {
    const named = asked.length ? Claims.title(asked, photos.files.length > 1 ? title : "") : title;
    return Object.assign(photosFeed(client, { files, claims: asked, title: named, graceS: graceS() }), { thumb, fromForm: true });
  });
}

/** Take a step from the answer that is looked at. The answer stays until the service has accepted the step. */
async function askAgain(wanted) {
  complain("");
  if (wanted.look) return look(wanted.look);
  if (running || queue.length) return tellStep(wanted, "Photos are at work: wait for them, or cancel, before you ask more.");
  if (!shown?.live.photos?.length) return tellStep(wanted, "Look at a photo of this case first: a claim is checked on the photo that is shown.");
  const from = shown.feed;
  tellStep(wanted, "Sending …");
  try {
    const feed = await againFeed(client, shown.live, wanted, graceS());
    await locateAll([Object.assign(feed, { after: { feed: from, wanted } })]);
  } catch (error) {
    tellStep(wanted, problemLines(asProblem(error)), true);
  }
}

/** A step came to nothing: the answer from which it was taken is there again, and the reason stands beside the step. */
async function goBack(feed) {
  const { feed: earlier, wanted } = feed.after;
  const accepted = shown?.feed === feed;
  if (accepted) {
    attach(earlier);
    address(earlier.id);
    showCase();
    if (earlier.ended) await showEnd(earlier, shown.live);
  }
  if (shown?.feed !== earlier) return;
  const problem = problemOfFeed(feed);
  const notice = feed.cancelled || !problem ? "Cancelled. This is the earlier answer." : problemLines(problem);
  const trace = accepted ? el("button", { type: "button", class: "as-link", onclick: () => look(feed.id) }, "Show what it did") : "";
  if (problem?.status === 401) askForKey();
  feed.stoppedByFocus = false; // the step has the focus
  tellStep(wanted, [notice, " ", trace], Boolean(problem) && !feed.cancelled);
}

const graceS = () => (keepsCases ? CASE_GRACE_S : GRACE_S);

async function locateAll(feeds) {
  const { after } = feeds[0];
  queue = feeds;
  busy(true);
  try {
    if (keepsCases && !caseView.file) await openNewCase();
  } catch (error) {
    busy(false);
    queue = [];
    if (after) throw error;
    return failed(asProblem(error), null);
  }
  running = null;
  for (const feed of feeds) {
    if (feed.cancelled) continue;
    const first = !running;
    if (!after && (first || shown?.feed === running)) attach(feed); // whoever looks at another photo goes on looking
    running = feed;
    if (first && !after) begin();
    showCase();
    await follow(feed, async (id) => {
      if (after) clearStep(after.wanted);
      if (after && shown?.feed === after.feed) {
        attach(feed);
        begin();
      }
      if (caseView.file) await caseView.file.add(id, feed.title);
      showCase();
      if (shown?.feed === feed) address(id);
    });
    queue = queue.filter((other) => other !== feed && !other.cancelled);
    if (!queue.length) free();
    showCase();
    if (caseView.file) await caseView.file.refresh().catch(() => {});
    showCase();
  }
  if (feeds.includes(running)) free(); // of what follows was all cancelled
}

/** Look at what begins; the first thing that can be done is to cancel it. */
function begin() {
  byId("results").scrollIntoView({ block: "start" });
  byId("stop").focus();
}

/** The next request may begin. */
function free() {
  if (!running) return;
  busy(false);
  running = null;
}

/** Show a feed from its beginning, instead of what was shown. */
function attach(feed) {
  shown?.feed.watch(null);
  shown?.live.forget();
  for (const id of ["welcome", "problem", "answer", "cases"]) byId(id).hidden = true;
  shown = { feed, live: new Live(client, map, viewer, askAgain), begun: performance.now() };
  feed.watch(shown.live);
}

/** Follow a feed to its end, and show that where it is looked at. */
async function follow(feed, onAccepted) {
  const clock = startClock();
  let error = null;
  try {
    await feed.run(onAccepted);
  } catch (raised) {
    error = raised;
  } finally {
    clearInterval(clock);
  }
  feed.problem = error;
  if (feed.after && !feed.answer) await goBack(feed);
  else if (shown?.feed === feed) await showEnd(feed, shown.live);
}

async function showEnd(feed, live) {
  if (feed.cancelled && !feed.answer) live.close("Cancelled.");
  else if (feed.answer && !feed.problem) await answered(feed.answer, live);
  else if (problemOfFeed(feed)) failed(problemOfFeed(feed), live);
  else live.close("Cancelled.");
  if (!feed.fromForm || !(feed.problem instanceof Problem)) return;
  if (!claims.refuse(feed.problem.fields)) refuseFields(feed.problem.fields);
}

/** Look at a request of the case; what is at work goes on. */
async function look(id) {
  if (shown?.feed.id === id) return;
  const feed = running?.id === id ? running : new Feed(client, { id });
  attach(feed);
  address(id);
  showCase();
  if (feed !== running) await follow(feed);
  else if (feed.ended) await showEnd(feed, shown.live);
}

async function answered(answer, live) {
  live.close(`Answered after ${answer.timing.total_s.toFixed(1)} s.`);
  const seen = await live.photosShown();
  if (shown?.live !== live) return;
  showAnswer(answer, live, client, seen);
  if (answer.check) live.tested(answer.check.testing.rollouts);
  showOnMap(answer, live, { client, map, isShown: () => shown?.live === live }).catch(() => live.withoutMap());
}

function failed(problem, live) {
  live?.close("The request ended without an answer.");
  if (!live?.lanes.size) byId("run").hidden = true;
  if (problem.status === 401) {
    askForKey();
    byId("key").focus();
  }
  showProblem(problem);
}

async function cancel() {
  if (!running) return;
  const feed = running;
  for (const other of queue) other.cancelled = true;
  feed.stoppedByFocus = document.activeElement === byId("stop"); // disabling the button may drop it
  byId("stop").disabled = true;
  if (shown?.feed === feed) shown.live.say("Stopping …");
  await feed.cancel();
}

function startClock() {
  const show = () => {
    if (shown && !shown.feed.ended) byId("clock").textContent = `${((performance.now() - shown.begun) / 1000).toFixed(1)} s`;
  };
  show();
  return setInterval(show, 200);
}

// ── cases ──

const waiting = () => queue.filter((feed) => !feed.id);

const showCase = () => caseView.show(caseView.file, waiting(), shown?.feed.id ?? null);

/** The address says which case and which request is looked at; it leaves this browser only when a person copies it. */
function address(id = null) {
  if (caseView.file) history.replaceState(null, "", `#${caseView.file.id}${id ? `/${id}` : ""}`);
}

async function openNewCase() {
  caseView.forget();
  caseView.show(await CaseFile.create(client));
  history.pushState(null, "", `#${caseView.file.id}`);
}

function leaveCase() {
  caseView.save();
  caseView.forget();
  caseView.show(null);
  shown?.live.forget();
  shown = null;
  map.clear();
  for (const id of ["problem", "answer", "run", "cases"]) byId(id).hidden = true;
}

/** Show what the address names: a case, the list of cases, or the empty page. */
async function goTo(hash) {
  const [, caseId, requestId] = /^#(case_[0-9a-f]{20})(?:\/(loc_[0-9a-f]{20}))?$/.exec(hash) ?? [];
  if (running && caseId !== caseView.file?.id) {
    complain("Photos are at work: wait for them, or cancel, before you leave this case.");
    return address(running.id);
  }
  if (caseId && caseId === caseView.file?.id) return requestId ? look(requestId) : undefined;
  leaveCase();
  complain("");
  byId("welcome").hidden = Boolean(caseId) || hash === "#cases";
  try {
    if (hash === "#cases") {
      await listCases(client);
      byId("cases").hidden = false;
      byId("cases-title").focus();
    } else if (caseId) {
      caseView.show(await CaseFile.open(client, caseId));
      const there = caseView.file.value.runs.filter((run) => run.outcome?.status !== "erased");
      const wanted = there.find((run) => run.request_id === requestId) ?? there.at(-1);
      if (wanted) await look(wanted.request_id);
    }
  } catch (error) {
    failed(asProblem(error), null);
  }
}

async function eraseRun(id) {
  try {
    await caseView.file.eraseRun(id);
    if (shown?.feed.id === id) {
      map.clear();
      for (const part of ["problem", "answer", "run"]) byId(part).hidden = true;
      shown.live.forget();
      shown = null;
      address();
    }
    byId("case-status").textContent = "Erased: the photo, its answer and everything in between.";
    byId("case-title").focus();
  } catch (error) {
    byId("case-status").textContent = error.advice ?? "not erased";
  }
  showCase();
}

async function eraseCase() {
  const { file } = caseView;
  try {
    for (const feed of queue) feed.cancelled = true;
    await file.erase();
    leaveCase();
    history.replaceState(null, "", "#cases");
    await goTo("#cases");
  } catch (error) {
    byId("case-status").textContent = error.advice ?? "not erased";
  }
}

async function introduce() {
  const index = await client.index();
  photos.limits = { ...photos.limits, ...index.limits };
  byId("rollouts").max = index.limits.rollouts;
  if (index.access === "keys") askForKey();
  offerRegionSearch(index.region_search);
  map.offer(index.map_tiles);
  byId("engine").textContent = engineWords(index.engine);
  tellWhatIsSeen(index.engine);
  keepsCases = Boolean(index.cases);
  caseView.survives = index.cases?.survive_restart ?? false;
  byId("cases-link").hidden = !keepsCases;
  byId("foot").textContent = keptWords(index);
  if (location.hash) await goTo(location.hash);
}

function onKey(event) {
  const typing = event.target.matches("input:not([type=checkbox], [type=radio], [type=file]), textarea, select");
  const window = document.querySelector("dialog[open]");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !window) byId("form").requestSubmit();
  else if (event.key === "Escape" && running && !window) cancel();
  else if (event.key === "?" && !typing && !window) byId("keys").showModal();
  else return;
  event.preventDefault();
}

startLinking();
startPrinting(map);
addEventListener("keydown", onKey);
document.addEventListener("geotts-erased", async () => {
  if (!caseView.file) return;
  await caseView.file.refresh().catch(() => {});
  showCase();
});
addEventListener("hashchange", () => goTo(location.hash));
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("new-case").addEventListener("click", () => {
  location.hash = "";
  byId("photos").focus();
});
byId("cases-words").addEventListener("input", () => listCases(client).catch(() => {}));
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (running || queue.length) return;
  const feeds = formsChecked();
  if (!feeds) return;
  forgetConsent();
  locateAll(feeds);
});
byId("stop").addEventListener("click", cancel);
byId("key").value = sessionStorage.getItem(KEY) ?? "";
byId("key").addEventListener("change", () => sessionStorage.setItem(KEY, byId("key").value.trim()));
addEventListener("beforeunload", (event) => {
  if (waiting().length) event.preventDefault(); // photos that were not sent yet would be lost
});
addEventListener("pagehide", () => {
  caseView.save();
  if (!running || keepsCases) return; // of a case the service goes on, so that whoever comes back finds the answer
  running.cancelled = true;
  if (running.id) client.cancel(running.id, { keepalive: true }).catch(() => {});
  running.abort.abort();
});
startForm();
if (byId("key").value) askForKey();
introduce().catch((error) => {
  if (error instanceof TypeError) complain("The service does not answer. Is it still running?");
  else throw error;
});
