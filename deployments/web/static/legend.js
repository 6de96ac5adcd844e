// What the marks, lines and areas on the map mean: one line for each that is there.

import { el } from "./dom.js";

const LINES = [
  ["candidates", "mark candidate-mark", "1", "square with a number: another possible place, by its number in the list of candidates"],
  ["rollouts", "mark hue-0", "0", "round number: where the attempt with this number believes it was"],
  ["evidence", "mark proof", "✓", "a place that evidence names"],
  ["tools", "mark small hue-0", "", "small dot: a place that a tool returned"],
  ["claimed", "mark claim-mark", "?", "violet: a claimed place; a dashed line is its outline"],
  ["distances", "legend-line between", "", "dotted line: the distance from the answer to another place"],
];

/** What the map shows of an answer, besides its marks: `point` and `areas` in words, and the `outline` of what is known. */
export function legend(shown, { point, areas, outline }) {
  const item = (kind, text, words, about = "") => el("li", { class: about || null }, el("span", { class: `legend-mark ${kind}`, "aria-hidden": "true" }, text), el("span", {}, words));
  return [
    shown.has("answer") && point ? item("mark star", "★", point) : "",
    shown.has("answer") && outline ? item("legend-area known", "", outline) : "",
    shown.has("answer") && areas ? item("legend-area firm", "", areas, "circles") : "",
    ...LINES.filter(([layer]) => shown.has(layer)).map(([, kind, text, words]) => item(kind, text, words)),
  ];
}
