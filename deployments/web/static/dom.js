// Elements made of text. Whatever a photo, a tool or a model says enters the page through `el` as a text node; nothing
// here makes markup from a string, and the policy of the page (Trusted Types) would refuse it.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
const KEPT = new Set(["\n", "\t", "\u200c", "\u200d"]); // joiners are letters' business in Persian, Hindi and others

/** Control and direction-changing characters become a box, so that nothing can hide. */
export function clean(text) {
  return String(text ?? "").replace(HIDDEN, (char) => (KEPT.has(char) ? char : "\ufffd"));
}

/** At most `limit` characters, and how many were left out. */
export function cut(text, limit = 6000) {
  const whole = String(text ?? "");
  return whole.length <= limit ? whole : `${whole.slice(0, limit)} … (${whole.length - limit} more characters)`;
}

/** An element. Attributes are set as attributes, `on…` ones are listeners; children are elements or text. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : clean(value));
  }
  return fill(made, ...children);
}

/** The element with these children and no others; lists are taken apart, nothing stays nothing. */
export function fill(made, ...children) {
  const shown = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== "");
  made.replaceChildren(...shown.map((child) => (child instanceof Node ? child : clean(child))));
  return made;
}

/** The element with these children in this order. What is there already stays as it is, and keeps the focus. */
export function arrange(made, children) {
  const wanted = new Set(children);
  for (const child of [...made.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => made.children[index] === child || made.insertBefore(child, made.children[index] ?? null));
  return made;
}

/** A share of a whole as a bar. */
export function bar(share, label) {
  const filled = el("i");
  filled.style.inlineSize = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el("span", { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100,
    "aria-valuenow": Math.round(share * 100), "aria-valuetext": percent(share) }, filled);
}

/** A link to a web page; anything else than http and https is shown as text. */
export function link(url, text = url) {
  let parsed;
  try {
    parsed = new URL(url);
  } catch {
    return document.createTextNode(clean(text));
  }
  if (!["http:", "https:"].includes(parsed.protocol)) return document.createTextNode(clean(text));
  return el("a", { href: parsed.href, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}

export const byId = (id) => document.getElementById(id);

/** With as many digits as it deserves. */
export function distance(km) {
  if (km < 1) return `${Math.max(1, Math.round(km * 1000))} m`;
  return km < 10 ? `${km.toFixed(1)} km` : `${Math.round(km).toLocaleString("en")} km`;
}

export const percent = (share) => `${Math.round(share * 100)} %`;

/** A figure with its name and what it means. */
export const fact = (name, value, note, ...more) =>
  el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value), more, el("small", { class: "soft" }, note)));

/** The first letter as a capital, with a full stop: a statement as a sentence. */
export const sentence = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;

export const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** From the smallest to the largest, without repeating a name. */
export function placeName(place) {
  return [...new Set([place.place, place.city, place.region, place.country].filter(Boolean))].join(", ");
}

export const coordinates = (point, digits = 5) => `${point.lat.toFixed(digits)}, ${point.lon.toFixed(digits)}`;

/** Free an object URL, later: an image or a download may just be reading it. */
export const release = (url) => setTimeout(() => URL.revokeObjectURL(url), 10_000);

/** Give a file to the person. */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  release(url);
}

/** Put text on the clipboard; also where browsers offer no clipboard (plain http on another host). */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "offscreen", readonly: true }, text);
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
