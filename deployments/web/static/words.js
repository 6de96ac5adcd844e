// The words of this page for what the service calls otherwise (docs/glossary.md): who reads it need not know its code.

const PLAIN = [[/\brollouts\b/g, "attempts"], [/\brollout\b/g, "attempt"], [/\bRollouts\b/g, "Attempts"], [/\bRollout\b/g, "Attempt"]];

/** A sentence of the service in the words of the page. Not for what a photo, a person or a tool says. */
export const plain = (text) => PLAIN.reduce((words, [code, word]) => words.replace(code, word), String(text ?? ""));

/** How many attempts named a place, and how many ended with “I do not know”. `n` is that of an answer. */
export function answeredWords({ n: { run, answered, abstained = 0 }, rollouts }) {
  const named = `${answered - abstained} of ${run} attempt${run === 1 ? "" : "s"}${ofModels(rollouts)} named a place`;
  return abstained ? `${named}, ${abstained} ${abstained === 1 ? "does" : "do"} not know` : named;
}

/** “ of 2 models”, where several share the attempts of a request; empty otherwise. */
export function ofModels(rollouts = []) {
  const models = new Set(rollouts.map(({ source }) => source ?? "")).size;
  return models > 1 ? ` of ${models} models` : "";
}
