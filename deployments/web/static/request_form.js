// What is sent to the service: photos with the options of the form, a claim about them, or what is added to a request.

import { Claims } from "./claims.js";
import { byId, el, fill } from "./dom.js";
import { Feed } from "./feed.js";

const DEPTHS = {
  auto: "as much work as the photo needs",
  direct: "one look, no tools: fast",
  standard: "a few attempts, a few steps each",
  deep: "every attempt, all tools: slow and thorough",
  budget: "what the request may take decides how many attempts are made",
};
const BUDGET = ["tokens", "seconds", "money_usd"];

/** Say what the chosen depth means, and show the fields that go with it: of the budget, or how many rollouts. */
export function startForm() {
  const depth = byId("depth");
  const tell = () => {
    byId("depth-note").textContent = DEPTHS[depth.value];
    byId("budget-fields").hidden = byId("budget-fields").disabled = !hasBudget();
    byId("rollouts-field").hidden = byId("rollouts").disabled = hasBudget();
    rightAgain();
  };
  depth.addEventListener("change", tell);
  byId("form").addEventListener("input", (event) => rightAgain(event.target));
  tell();
}

const hasBudget = () => byId("depth").value === "budget";

const budgetFields = () => BUDGET.map((name) => byId(`budget-${name}`));

/** The first field that holds what cannot be sent, with the reason; null where everything is right. */
export function firstWrong() {
  rightAgain();
  const field = [...byId("form").elements].find((one) => one.willValidate && !one.validity.valid);
  if (field) return { field, why: `${field.labels[0].textContent}: ${field.validationMessage}` };
  if (hasBudget() && !budgetFields().some((one) => one.value.trim())) return { field: budgetFields()[0], why: "Budget: write at least one of amount of text, seconds and US dollars." };
  return null;
}

/** Say beside a field what is wrong with it, and go there; a folded part of the form is opened. */
export function tellWrong(field, why) {
  field.setAttribute("aria-invalid", "true");
  const place = field.closest("fieldset.budget") ?? field.closest(".field");
  if (place && !place.querySelector(".field-wrong")) place.append(el("small", { class: "field-wrong", role: "alert", id: `${field.id}-wrong` }));
  if (place) {
    fill(place.querySelector(".field-wrong"), why);
    field.setAttribute("aria-errormessage", place.querySelector(".field-wrong").id);
  }
  field.closest("details")?.setAttribute("open", "");
  field.focus();
}

/** Mark the fields that the service refused, except claims, which have rows of their own. */
export function refuseFields(errors) {
  for (const { field, problem } of [...errors].reverse()) {
    const [name, part] = String(field).split(".");
    const input = name === "budget" ? byId(`budget-${BUDGET.includes(part) ? part : BUDGET[0]}`) : byId("form").elements.namedItem(name);
    if (input instanceof HTMLElement && !input.disabled) tellWrong(input, problem);
  }
}

/** What was wrong with one field, or with all, is not said any more. */
function rightAgain(field = null) {
  const place = field === null ? byId("form") : field.closest?.("fieldset.budget") ?? field.closest?.(".field");
  if (!place) return;
  for (const problem of place.querySelectorAll(".field-wrong")) problem.remove();
  for (const one of place.querySelectorAll("[aria-errormessage]")) {
    one.removeAttribute("aria-invalid");
    one.removeAttribute("aria-errormessage");
  }
}

/** A request about photos: where they were taken, or whether a claim about them is true. */
export function photosFeed(client, { files, claims, title, graceS }) {
  const form = new FormData();
  for (const file of files) form.append("image", file, "photo");
  for (const [name, value] of new FormData(byId("form"))) {
    if (value.trim() && !(name === "depth" && hasBudget())) form.append(name, value.trim());
  }
  if (hasBudget()) form.append("budget", JSON.stringify(budgetGiven()));
  if (claims.length) form.append("claim", JSON.stringify(claims));
  form.append("resume_grace_s", String(graceS));
  return new Feed(client, { form, path: claims.length ? "check" : "locate", title });
}

const budgetGiven = () => Object.fromEntries(BUDGET.map((name) => [name, byId(`budget-${name}`).value.trim()]).filter(([, value]) => value).map(([name, value]) => [name, Number(value)]));

/** Another request about the photos of `live`: `claims` are checked, a `fact` is added, or a place is ruled out. */
export async function againFeed(client, live, { claims, fact, notThere, title }, graceS) {
  const id = live.pictures.request;
  if (claims) {
    const files = await Promise.all(live.photos.map((photo) => client.file(id, photo.sha256)));
    return photosFeed(client, { files, claims, title: Claims.title(claims), graceS });
  }
  const form = new FormData();
  if (fact) form.append("fact", fact);
  if (notThere) form.append("not_there", notThere === true ? "true" : JSON.stringify([notThere]));
  form.append("resume_grace_s", String(graceS));
  return new Feed(client, { form, path: `locate/${id}/continue`, title: title.slice(0, 200) });
}
