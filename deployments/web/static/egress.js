// What left the machine, in one line, and in full for who wants to know.

import { count, el, fill } from "./dom.js";

/** A paragraph and its details. `left` is the event `left_machine`; without one nothing left. */
export function egressSummary(left) {
  if (!left) return el("p", { class: "egress" }, el("b", {}, "What left this machine: "), "nothing.");
  const engines = new Set(left.engines ?? []);
  const others = new Map();
  for (const sent of left.sent) if (!engines.has(sent.host)) others.set(sent.host, (others.get(sent.host) ?? 0) + 1);
  const parts = [
    engines.size ? `the photo and what the attempts wrote, to ${[...engines].join(", ")}` : "",
    others.size ? `${[...others].map(([host, number]) => `${count(number, "request")} to ${host}`).join(", ")}` : "",
  ].filter(Boolean).join("; ");
  const line = el("p", { class: "egress" }, el("b", {}, "What left this machine: "), parts || "nothing", ".", left.complete ? "" : " This is not complete: a part of the service did not say.");
  if (!left.sent.length) return line;
  const rows = left.sent.slice(0, 300).map((sent) => el("tr", {}, [sent.at.replace("T", " ").replace("Z", ""), sent.method, sent.url, String(sent.bytes_sent)].map((cell) => el("td", {}, cell))));
  const head = ["when (UTC)", "how", "where to", "bytes"].map((name) => el("th", { scope: "col" }, name));
  return fill(el("div"), line, el("details", { class: "small" }, el("summary", {}, `${count(left.sent.length, "request")} in full`),
    el("div", { class: "wide-table", tabindex: "0", role: "group", "aria-label": "Requests that left" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)))));
}
