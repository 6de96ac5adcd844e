// The examples of the API reference, to be run: for every operation a form with its parameters and an example body,
// sent to this service. What a reply names (a request, a case) is filled into the operations that take it.

import { byId, clean, copy, cut, el, fill, release } from "./dom.js";
import { exampleOf, fieldsOf, withPhoto } from "./examples.js";

const KEY = "geotts-key"; // the page at `/` keeps it under the same name
const SHOWN = 40_000;
const NAMED = { request_id: /^loc_/, case_id: /^case_/, response_id: /^resp_/, sha256: /^[0-9a-f]{64}$/, name: /^geotts/ };
const known = new Map();
let schema = null;
let photo = null; // a File; the sample of the service until another is chosen

async function start() {
  schema = await (await fetch("openapi.json")).json();
  byId("key").value = sessionStorage.getItem(KEY) ?? "";
  byId("key").addEventListener("change", () => sessionStorage.setItem(KEY, byId("key").value.trim()));
  byId("key-field").hidden = !schema.security;
  byId("sample").addEventListener("change", () => { photo = byId("sample").files[0] ?? photo; });
  for (const [path, operations] of Object.entries(schema.paths)) {
    for (const [method, operation] of Object.entries(operations)) offer(method, path, operation);
  }
  byId("trying").addEventListener("submit", (event) => event.preventDefault());
  byId("find").addEventListener("input", filter);
  addEventListener("resize", reach);
  reach();
}

/** The form of an operation, made when it is opened. */
function offer(method, path, operation) {
  const section = byId(`${method} ${path}`.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, ""))?.closest("section");
  const place = section?.querySelector(".try");
  if (!place) return;
  const box = el("details", {}, el("summary", {}, "Try it"));
  box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(form(method, path, operation)); });
  fill(place, box);
}

function form(method, path, operation) {
  const at = `${operation.operationId}-`;
  const parameters = (operation.parameters ?? []).map((parameter) => ({ parameter, field: parameterField(at, parameter) }));
  const body = operation.requestBody ? bodyFields(at, operation.requestBody.content) : null;
  const replies = Object.keys(operation.responses?.["200"]?.content ?? {}).filter((kind) => kind !== "image/*");
  const accept = replies.length > 1 && !operation["x-accept"] ? el("select", { id: `${at}accept` }, replies.map((kind) => el("option", {}, kind))) : null;
  const out = el("div", { class: "reply", role: "status" });
  const send = el("button", { class: "main" }, "Send");
  const asked = () => request(method, path, { parameters, body, accept: operation["x-accept"] ?? accept?.value ?? replies[0] });
  const line = el("pre", { class: "command", tabindex: "0", role: "group", "aria-label": "The same from a terminal" });
  const made = el("form", { class: "example", novalidate: true },
    parameters.map(({ parameter, field }) => labelled(parameter.name, `${parameter.in}${parameter.required ? ", required" : ""}`, field)),
    body?.nodes ?? "", accept ? labelled("Accept", "form of the reply", accept) : "",
    el("div", { class: "buttons-row" }, send, el("button", { type: "button", onclick: () => copy(line.textContent) }, "Copy for a terminal")), line, out);
  const retell = () => { line.textContent = curl(asked()); };
  made.addEventListener("input", retell);
  made.addEventListener("change", retell);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    fill(out, "…");
    try {
      await show(out, await replyTo(asked()));
    } catch (error) {
      fill(out, el("p", { class: "error-message" }, error instanceof SyntaxError ? `The body is not JSON: ${error.message}` : `No reply: ${error.message}`));
    }
    send.disabled = false;
  });
  for (const { parameter, field } of parameters) if (known.has(parameter.name)) field.value = known.get(parameter.name);
  retell();
  return made;
}

const labelled = (name, note, field) => el("p", { class: "field" }, el("label", { for: field.id }, el("code", {}, name), " ", el("small", {}, note)), field);

function parameterField(at, { name, schema: kind, required }) {
  const choices = kind?.enum ?? (kind?.type === "boolean" ? [true, false] : null);
  const id = `${at}${name}`;
  const value = kind?.examples?.[0] ?? (required ? kind?.default ?? kind?.minimum ?? "" : "");
  if (choices) return el("select", { id, "data-name": name }, required ? "" : el("option", { value: "" }, "–"), choices.map((choice) => el("option", { value: String(choice) }, String(choice))));
  return el("input", { type: "text", id, "data-name": name, value: String(value), autocomplete: "off", spellcheck: "false" });
}

/** The body as it can be changed: JSON, or fields of a form one a line; a photo is that of the top of the page. */
function bodyFields(at, content) {
  const kinds = Object.keys(content);
  const kind = el("select", { id: `${at}kind` }, kinds.map((name) => el("option", {}, name)));
  const examples = () => Object.entries(content[kind.value].examples ?? {});
  const which = el("select", { id: `${at}example` });
  const text = el("textarea", { id: `${at}body`, rows: 8, spellcheck: "false" });
  const note = el("p", { class: "soft small" });
  const whole = el("div", {}, labelled("body", "", text));
  const choose = () => {
    const media = content[kind.value];
    whole.hidden = kind.value.startsWith("image/");
    note.textContent = kind.value === "application/json" ? "A shortened photo in it stands for the photo that is chosen above."
      : kind.value.startsWith("image/") ? "The body is the photo that is chosen above." : "The field image is the photo that is chosen above. Other fields: one a line, as name=value.";
    if (!which.hidden && !which.value) which.selectedIndex = 0;
    text.value = kind.value === "multipart/form-data" ? fieldsOf(media.schema, schema)
      : JSON.stringify(exampleOf(media, schema, which.value), null, 2);
    for (const [name, value] of known) text.value = text.value.replaceAll(`"{${name}}"`, JSON.stringify(value));
  };
  const chooseKind = () => {
    fill(which, examples().map(([name]) => el("option", {}, name)));
    which.closest("p")?.toggleAttribute("hidden", examples().length < 2);
    choose();
  };
  kind.addEventListener("change", chooseKind);
  which.addEventListener("change", choose);
  const nodes = [kinds.length > 1 ? labelled("Content-Type", "form of the body", kind) : "", labelled("example", "", which), whole, note];
  chooseKind();
  return { nodes, value: () => ({ kind: kind.value, text: text.value }) };
}

function request(method, path, { parameters, body, accept }) {
  let address = path;
  const [query, headers] = [new URLSearchParams(), {}];
  for (const { parameter: { name, in: where }, field } of parameters) {
    if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(field.value));
    else if (field.value && where === "query") query.set(name, field.value);
    else if (field.value) headers[name] = field.value;
  }
  if (accept) headers.Accept = accept;
  const written = body?.value() ?? null;
  return { method: method.toUpperCase(), url: new URL(`${address.slice(1)}${query.size ? `?${query}` : ""}`, new URL("./", document.baseURI)), headers, body: written };
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter((line) => line.includes("=")).map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);

async function theirPhoto() {
  photo ??= new File([await (await fetch("web/sample.jpg")).blob()], "photo.jpg", { type: "image/jpeg" });
  return photo;
}

async function replyTo({ method, url, headers, body }) {
  const key = byId("key").value.trim();
  const options = { method, headers: { ...headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) }, cache: "no-store" };
  if (body?.kind === "multipart/form-data") {
    options.body = new FormData();
    options.body.append("image", await theirPhoto(), "photo.jpg");
    for (const [name, value] of lines(body.text)) options.body.append(name, value);
  } else if (body) {
    const isPhoto = body.kind.startsWith("image/");
    options.headers["Content-Type"] = isPhoto ? (await theirPhoto()).type || "image/jpeg" : body.kind;
    options.body = isPhoto ? await theirPhoto() : JSON.stringify(await withPhoto(JSON.parse(body.text), theirPhoto));
  }
  return fetch(url, options);
}

/** The same request for a terminal; a photo in JSON stays shortened there. */
function curl({ method, url, headers, body }) {
  const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
  const parts = ["curl", ...(method === "GET" ? [] : ["-X", method])];
  for (const [name, value] of Object.entries(headers)) parts.push("-H", quoted(`${name}: ${value}`));
  if (schema.security) parts.push("-H", quoted("Authorization: Bearer YOUR_KEY"));
  if (body?.kind === "multipart/form-data") parts.push("-F", "image=@photo.jpg", ...lines(body.text).flatMap(([name, value]) => ["-F", quoted(`${name}=${value}`)]));
  else if (body?.kind.startsWith("image/")) parts.push("-H", quoted("Content-Type: image/jpeg"), "--data-binary", "@photo.jpg");
  else if (body) parts.push("-H", quoted(`Content-Type: ${body.kind}`), "--data", quoted(body.text.replace(/\s*\n\s*/g, " ")));
  return [...parts, quoted(url.href)].join(" ");
}

async function show(out, reply) {
  const kind = (reply.headers.get("content-type") ?? "").split(";")[0];
  const head = el("p", {}, el("b", { class: reply.ok ? "good" : "bad" }, `${reply.status} ${reply.statusText}`), ` ${kind}`);
  const named = reply.headers.get("x-request-id") ?? "";
  if (/\/(locate|check|continue)$/.test(new URL(reply.url).pathname) && NAMED.request_id.test(named)) remember("request_id", named); // a stream is no JSON
  if (/^image\//.test(kind) || /zip|octet|parquet/.test(kind)) {
    const blob = await reply.blob();
    const url = URL.createObjectURL(blob);
    release(url);
    return fill(out, head, kind.startsWith("image/") ? el("img", { src: url, alt: "The picture of the reply" }) : el("p", {}, `${blob.size.toLocaleString("en")} bytes`));
  }
  const text = el("pre", { tabindex: "0", role: "group", "aria-label": "The reply" });
  fill(out, head, text);
  const decoder = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let received = "";
  for (let chunk = await decoder?.read(); chunk && !chunk.done; chunk = await decoder.read()) {
    received += chunk.value;
    text.textContent = clean(cut(received, SHOWN));
  }
  if (!/json$/.test(kind)) return;
  const value = JSON.parse(received);
  learn(value);
  text.textContent = clean(cut(JSON.stringify(value, null, 2), SHOWN));
}

/** What a reply names, for the next operations. */
function learn(value) {
  if (Array.isArray(value)) return value.forEach(learn);
  if (typeof value !== "object" || value === null) return;
  for (const [field, inner] of Object.entries(value)) {
    if (typeof inner === "object") {
      if (field === "photo_sha256" && inner?.length) remember("sha256", inner[0]);
      learn(inner);
    }
    const name = field === "id" ? Object.keys(NAMED).find((one) => NAMED[one].test(inner)) : field;
    if (name in NAMED && NAMED[name].test(inner)) remember(name, inner);
  }
}

function remember(name, value) {
  known.set(name, value);
  for (const field of document.querySelectorAll(`[data-name="${name}"]`)) field.value = value;
}

/** A table that is too wide to be shown whole can be moved with the keyboard. */
function reach() {
  for (const table of document.querySelectorAll(".reference main table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
    else table.removeAttribute("tabindex");
  }
}

/** Only the operations and values with all these words are listed. */
function filter() {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of document.querySelectorAll(".reference nav li")) item.hidden = !words.every((word) => item.textContent.toLowerCase().includes(word));
}

start().catch((error) => fill(byId("trying"), el("p", { class: "error-message" }, `The examples cannot be run: ${error.message}`)));
