// The words of this page for what the service calls otherwise (docs/glossary.md): who reads it need not know its code.

const PLAIN = { rollouts: "attempts", rollout: "attempt", Rollouts: "Attempts", Rollout: "Attempt", verifier: "comparison", Verifier: "Comparison" };
// Not a part of a name, a path or a configuration key, as in `verifier.max_tokens`.
const SERVICE_WORD = new RegExp(`(^|[^\\w./=-])(${Object.keys(PLAIN).join("|")})(?![\\w/=-]|\\.\\w)`, "g");

/** A sentence of the service in the words of the page. Not for what a photo, a person or a tool says. */
export const plain = (text) => String(text ?? "").replace(SERVICE_WORD, (_, before, word) => before + PLAIN[word]);

/** How many attempts named a place, of how many models they were, and how many ended with “I do not know”. `n` is that of an answer. */
export function answeredWords({ n: { run, answered, abstained = 0, models } }) {
  const whose = run < 2 || !models ? "" : whoseWords(models);
  const named = `${answered - abstained} of ${run} attempt${run === 1 ? "" : "s"}${whose} named a place`;
  return abstained ? `${named}, ${abstained} ${abstained === 1 ? "does" : "do"} not know` : named;
}

/** “ of 2 models”, where several share the attempts of a request; empty otherwise. */
export function ofModels(rollouts = []) {
  const models = new Set(rollouts.map(({ source }) => source ?? "")).size;
  return models > 1 ? whoseWords(models) : "";
}

const whoseWords = (models) => (models === 1 ? " of one model" : ` of ${models} models`);
