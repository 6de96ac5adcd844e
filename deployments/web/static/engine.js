// Which engine answers, and what it can see: said before anybody waits for an answer.

import { byId } from "./dom.js";

const READER = "the built-in reader of signs: it reads text in the photo and looks it up. It does not see buildings, landscapes or streets.";

let blind = ""; // what the engine of this service cannot see

/** What the engine of a request cannot see, in a sentence; empty where it sees the whole photo, or nobody knows. */
export const blindWords = (name) => (name === "clues" ? BLIND : blind);

const BLIND = "This service only reads text in photos. It does not see buildings, landscapes or streets.";

/** Beside the place for photos: what the engine cannot see. Nothing where it sees the whole photo. */
export function tellWhatIsSeen(engine) {
  if (engine?.name === "clues") blind = BLIND;
  else blind = engine && !engine.sees_pictures ? "The model of this service only gets the text that is read in photos." : "";
  byId("sees").textContent = blind;
  byId("sees").hidden = !blind;
}

/** One sentence. `engine` is what the index says: name, model, hosts, and whether it sees pictures. */
export function engineWords(engine) {
  if (!engine) return "";
  if (engine.name === "clues") return `Answers come from ${READER}`;
  const who = engine.model && engine.model !== engine.name ? `${engine.model} (${engine.name})` : engine.name;
  const where = engine.hosts.length ? ` at ${engine.hosts.join(", ")}, which is sent the photo` : ", which runs here";
  const sees = engine.sees_pictures ? "It sees the whole photo." : "It does not see the photo: it goes by the text that is read in it.";
  return `Answers come from ${who}${where}. ${sees}`;
}

/** How long photos and answers are kept, in a sentence. `retention_s` is in seconds. */
export function keptWords({ version, cases, retention_s: seconds }) {
  if (cases) return `GeoTTS ${version} · a case is kept for ${cases.retention_days} days after its last change, or until you erase it`;
  const kept = seconds >= 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds)} s`;
  return `GeoTTS ${version} · photos and answers are deleted after ${kept}, or at once when you erase them`;
}
