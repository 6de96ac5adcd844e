// The service over fetch: one request as a stream of events that survives cuts, and what belongs to it.
//
// A cut stream is taken up after the last event that was read; the service keeps working for GRACE_S without a reader.
// A request whose reply never came is sent again under the same idempotency key, so it never runs twice.

import { Problem, problemOf, unreachable } from "./problems.js";

export const GRACE_S = 15;
export const CASE_GRACE_S = 600; // the answer is kept in the case, whoever reads it
const TRIES = 6;
const SILENCE_MS = 45_000; // the service says something at least every 10 s
const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

export class Client {
  /** `key` returns the API key, or nothing. */
  constructor(key) {
    this.key = key;
  }

  async index() {
    return (await this.#fetched("./", { headers: { Accept: "application/json" } })).json();
  }

  async geojson(id) {
    return (await this.#fetched(`locate/${id}`, { headers: { Accept: "application/geo+json" } })).text();
  }

  /** A picture of a request: a file that an event names. */
  async file(id, sha256) {
    return (await this.#fetched(`locate/${id}/files/${encodeURIComponent(sha256)}`)).blob();
  }

  /** JSON from the service; a `body` is sent as JSON. */
  async json(path, { method = "GET", body } = {}) {
    const content = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
    return (await this.#fetched(path, { method, ...content })).json();
  }

  /** The answer in another form, by its media type. */
  async exported(id, mediaType) {
    return (await this.#fetched(`locate/${id}`, { headers: { Accept: mediaType } })).blob();
  }

  async report(id) {
    return (await this.#fetched(`locate/${id}/report`)).blob();
  }

  /** Stop the work. `keepalive`: the page goes away and cannot wait for a reply. */
  async cancel(id, { erase = false, keepalive = false } = {}) {
    await this.#fetched(`locate/${id}${erase ? "?erase=true" : ""}`, { method: "DELETE", keepalive });
  }

  /** Every event of a new request, or of one that is `known`, in order and once, up to `done`. Throws Problem; `onCut` hears of interruptions. */
  async *run({ form, path }, { signal, onCut, onBack }, known = null) {
    const idempotency = randomKey();
    let id = known;
    let last = 0;
    let tries = 0;
    for (;;) {
      const attempt = new AbortController();
      const abort = () => attempt.abort();
      signal.addEventListener("abort", abort);
      try {
        signal.throwIfAborted();
        const reply = id === null
          ? await this.#post(path, form, idempotency, attempt.signal)
          : await this.#follow(id, last, attempt.signal);
        id = nameOf(reply) ?? id;
        if (tries > 0) onBack();
        for await (const event of eventsOf(reply, attempt)) {
          if (event.seq <= last) continue;
          last = event.seq;
          tries = 0;
          yield event;
          if (event.type === "done") return;
        }
      } catch (error) {
        const final = error instanceof Problem && !(id !== null && error.status === 503);
        if (signal.aborted || final) throw error;
      } finally {
        signal.removeEventListener("abort", abort);
        attempt.abort();
      }
      tries += 1;
      if (tries > (id === null ? 2 : TRIES)) {
        throw unreachable(id === null ? "No connection could be made." : "The connection was lost and could not be made again.");
      }
      onCut(tries);
      await pause(Math.min(8000, 500 * 2 ** (tries - 1)));
    }
  }

  #post(path, form, idempotency, signal) {
    const headers = { Accept: "text/event-stream", "Idempotency-Key": idempotency };
    return this.#fetched(path, { method: "POST", body: form, headers, signal });
  }

  #follow(id, last, signal) {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": String(last) };
    return this.#fetched(`locate/${id}/events`, { headers, signal });
  }

  async #fetched(path, options = {}) {
    const key = this.key();
    const headers = { ...(options.headers ?? {}), ...(key ? { Authorization: `Bearer ${key}` } : {}) };
    const reply = await fetch(new URL(path, document.baseURI), { cache: "no-store", ...options, headers });
    if (!reply.ok) throw await problemOf(reply);
    return reply;
  }
}

/** Server-sent events of a reply; a silent connection counts as cut. */
async function* eventsOf(reply, attempt) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  for (;;) {
    const silence = setTimeout(() => attempt.abort(), SILENCE_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(5));
      else if (line === "" && data.length) {
        yield JSON.parse(data.join("\n"));
        data = [];
      }
    }
  }
}

/** The name of the request; what stands on the way may have added names of its own. */
const nameOf = (reply) => /loc_[0-9a-f]{20}/.exec(reply.headers.get("x-request-id") ?? "")?.[0];

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
