// A problem on the page: what went wrong and what to do, above the results or beside the step that came to nothing.

import { byId, el, fill } from "./dom.js";
import { Problem, fieldName, unreachable } from "./problems.js";

/** An error as a problem; what is none yet is a service that cannot be reached. */
export const asProblem = (error) => (error instanceof Problem ? error : unreachable(String(error.message ?? error)));

/** The problem that ended a feed; null where nothing did. */
export function problemOfFeed({ problem, failure }) {
  if (problem) return asProblem(problem);
  return failure ? new Problem({ ...failure, type: `urn:geotts:problem:${failure.code}`, title: undefined }) : null;
}

/** Show it above the results. */
export function showProblem(problem) {
  const box = byId("problem");
  byId("welcome").hidden = true;
  fill(box, el("h2", {}, problem.title), whatWentWrong(problem),
    el("p", {}, el("b", {}, "What to do: "), problem.advice),
    el("p", { class: "soft small" }, problem.status ? `${problem.status} · ${problem.code}` : ""));
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
}

/** The same in a few lines, beside a field. */
export const problemLines = (problem) => [el("b", {}, `${problem.title}. `), whatWentWrong(problem), el("p", {}, el("b", {}, "What to do: "), problem.advice)];

function whatWentWrong({ fields, message }) {
  if (!fields.length) return el("p", { dir: "auto" }, message);
  return el("ul", {}, fields.map(({ field, problem: what }) => el("li", {}, el("code", {}, fieldName(field)), `: ${what}`)));
}
