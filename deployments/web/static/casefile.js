// A case as the service has it: read, changed and written again, with what several windows write kept apart.

const DRAFT = ["title", "notes", "tags", "claims"];

export class CaseFile {
  constructor(client, value) {
    this.client = client;
    this.value = value;
    this.writing = Promise.resolve();
  }

  static async create(client, draft = {}) {
    return new CaseFile(client, await client.json("cases", { method: "POST", body: draft }));
  }

  static async open(client, id) {
    return new CaseFile(client, await client.json(`cases/${id}`));
  }

  get id() {
    return this.value.case_id;
  }

  /** Read it again; what is written afterwards waits for this. */
  refresh() {
    return this.#afterwards(() => this.#read());
  }

  async #read() {
    this.value = await this.client.json(`cases/${this.id}`);
  }

  #afterwards(work) {
    this.writing = this.writing.catch(() => {}).then(work);
    return this.writing;
  }

  /** Change what a person writes; one after the other. When another window wrote meanwhile, only these fields win. */
  change(fields) {
    return this.#afterwards(() => this.#write(fields));
  }

  async #write(fields) {
    for (let tries = 0; ; tries += 1) {
      const draft = Object.fromEntries(DRAFT.map((name) => [name, fields[name] ?? this.value[name]]));
      try {
        this.value = await this.client.json(`cases/${this.id}`, { method: "PUT", body: { ...draft, version: this.value.version } });
        return;
      } catch (error) {
        if (error.code !== "case-changed" || tries > 4) throw error;
        await this.#read();
      }
    }
  }

  async add(requestId, title) {
    this.value = await this.client.json(`cases/${this.id}/runs`, { method: "POST", body: { request_id: requestId, title } });
  }

  async eraseRun(requestId) {
    this.value = await this.client.json(`cases/${this.id}/runs/${requestId}`, { method: "DELETE" });
  }

  async erase() {
    return this.client.json(`cases/${this.id}`, { method: "DELETE" });
  }
}
