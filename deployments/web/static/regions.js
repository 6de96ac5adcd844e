// Consent to search by picture: asked for only where the service has it, in words, and for one request at a time.

import { byId } from "./dom.js";

/** Ask for it. `terms` is what the index says; nothing where no region can leave. */
export function offerRegionSearch(terms) {
  byId("regions-field").hidden = !terms;
  byId("regions-note").textContent = terms ? wordsOf(terms) : "";
}

/** The next request needs a consent of its own. */
export function forgetConsent() {
  byId("regions").checked = false;
}

function wordsOf({ services, store, blurred }) {
  const who = services.map(({ service, host }) => `${service} (${host})`).join(", or else to ");
  return [
    `If ticked, parts of your photo, up to all of it, may be sent from this service to ${who}, which looks for similar pictures on the web.`,
    store ? `During a search they are stored at ${store}.` : "",
    "They are sent without metadata;",
    blurred ? "what the operator’s detector finds (faces, plates) is blurred first." : "nothing in them is blurred, not even faces and number plates.",
    "The terms of that service decide what it keeps of them. Your consent is for one request.",
  ].filter(Boolean).join(" ");
}
