// Errors in words, with what to do. A problem has the members of RFC 9457.

const PREFIX = "urn:geotts:problem:";

const ADVICE = {
  "unauthorized": "Put your API key into the field on the form and try again. Whoever runs this service makes keys with “geotts keys new NAME”.",
  "forbidden": "Open the page under the address the service was started with, or add this one to gateway.allowed_hosts.",
  "invalid-photo": "Try another file, or save the photo again as JPEG or PNG. Very small pictures and drawings in other formats cannot be used.",
  "unsupported-media-type": "Choose a photo: JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF or BMP.",
  "too-large": "Scale the photo down, or send fewer of them.",
  "body-timeout": "The upload took too long. Try a faster connection, or a smaller photo.",
  "invalid-request": "Change what is named above and try again.",
  "too-many-requests": "This key has used up its share for the moment.",
  "overloaded": "The service is busy with other photos.",
  "store-unavailable": "The service cannot reach its store. Whoever runs it finds out more at /readyz.",
  "rollouts-failed": "Nothing is wrong with the photo, and nothing is known about it. Whoever runs the service has to mend what is named above; /readyz says when the model answers again.",
  "upstream-refused": "Nothing is wrong with the photo, and nothing is known about it. The model behind this service refuses its requests: whoever runs it has to mend what is named above. Trying again does not help before.",
  "gateway-lost": "The part of the service that worked on this was lost. Nothing is wrong with the photo: try again.",
  "not-found": "The request is gone: it was erased, or kept no longer. Locate the photo again.",
  "deadline-exceeded": "Try again, with fewer rollouts or less depth.",
  "internal": "Nothing is wrong with the photo. Try again; if it stays, whoever runs the service finds the reason in its log.",
  "unreachable": "Check that the service still runs (“make serve”), then try again.",
};
const TITLES = {
  "unauthorized": "An API key is needed",
  "invalid-photo": "This photo cannot be used",
  "unsupported-media-type": "This photo cannot be used",
  "too-large": "Too large",
  "overloaded": "Busy",
  "rollouts-failed": "The model could not be asked",
  "upstream-refused": "The model refuses to work",
  "too-many-requests": "Too many requests",
  "unreachable": "The service does not answer",
};

export class Problem extends Error {
  constructor(told, retryAfterS = null) {
    super(told.detail ?? "");
    this.code = String(told.type ?? "").startsWith(PREFIX) ? told.type.slice(PREFIX.length) : (told.code ?? "http");
    this.status = told.status ?? 0;
    this.told = told;
    this.retryAfterS = retryAfterS;
  }

  get title() {
    return TITLES[this.code] ?? this.told.title ?? "That did not work";
  }

  get fields() {
    return Array.isArray(this.told.errors) ? this.told.errors : [];
  }

  get advice() {
    const wait = this.retryAfterS ? ` Try again in ${this.retryAfterS} s.` : "";
    const fallback = this.status >= 500 ? ADVICE.internal : "Change the request and try again.";
    return (ADVICE[this.code] ?? fallback) + wait;
  }
}

/** Why a reply is not what was asked for, also when something in between replied. */
export async function problemOf(response) {
  const retry = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  let told = {};
  try {
    told = await response.json();
  } catch {
    // not our reply: only the status is known
  }
  if (typeof told !== "object" || told === null) told = {};
  const plain = { status: response.status, title: response.statusText, detail: `The reply was ${response.status}.` };
  return new Problem({ ...plain, ...told }, Number.isFinite(retry) ? retry : null);
}

export const unreachable = (detail) =>
  new Problem({ type: `${PREFIX}unreachable`, status: 0, detail });
