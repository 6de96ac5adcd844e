// One request as the page follows it: its events, kept while it runs, for whichever view looks at it.

export class Feed {
  /** `form` begins a request at `path`; `id` takes up one that the service has. */
  constructor(client, { form = null, path = "locate", id = null, title = "" }) {
    Object.assign(this, { client, form, path, id, title });
    this.abort = new AbortController();
    this.events = [];
    this.watcher = null;
    this.cancelled = false;
    this.answer = null;
    this.failure = null;
    this.ended = false;
  }

  /** Follow it to its end. Throws Problem; `onAccepted(id)` once. */
  async run(onAccepted = () => {}) {
    try {
      const options = { signal: this.abort.signal, onCut: () => this.watcher?.say("The connection was lost. Connecting again …"), onBack: () => this.watcher?.say("Connected again.") };
      for await (const event of this.client.run(this, options, this.id)) {
        if (event.type === "accepted") {
          this.id = event.request_id;
          await onAccepted(this.id);
        }
        if (event.type === "answer") this.answer = event.answer;
        if (event.type === "error") this.failure = event;
        this.events.push(event);
        this.watcher?.take(event);
      }
    } finally {
      this.ended = true;
    }
  }

  /** Tell `live` everything so far, and from now on. */
  watch(live) {
    this.watcher = live;
    if (!live) return;
    for (const event of this.events) live.take(event);
  }

  async cancel() {
    this.cancelled = true;
    setTimeout(() => this.abort.abort(), 8000); // the stream should have ended by itself
    try {
      if (this.id) await this.client.cancel(this.id);
      else this.abort.abort();
    } catch {
      this.abort.abort();
    }
  }
}
