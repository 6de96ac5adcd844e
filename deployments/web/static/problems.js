// Errors in words, with what to do. A problem has the members of RFC 9457.

const PREFIX = "urn:geotts:problem:";

const ADVICE = {
  "unauthorized": "Put your API key into the field on the form and try again. The operator of this service makes keys with “geotts keys new NAME”.",
  "forbidden": "Open the page at the address the service was started with, or add this one to gateway.allowed_hosts.",
  "invalid-photo": "Try another file, or save the photo again as JPEG or PNG. Very small pictures and drawings in other formats cannot be used.",
  "unsupported-media-type": "Choose a photo: JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF or BMP.",
  "too-large": "Scale the photo down, or send fewer of them.",
  "body-timeout": "The upload took too long. Try a faster connection, or a smaller photo.",
  "invalid-request": "Change what is named above and try again.",
  "too-many-requests": "This key has made as many requests as it may for now.",
  "overloaded": "The service is busy with other photos.",
  "store-unavailable": "The service cannot reach its store. The operator can see more at /readyz.",
  "rollouts-failed": "Nothing is wrong with the photo, but the model or its tools could not be used. The operator of the service has to fix what is named above; /readyz shows whether the model answers.",
  "upstream-refused": "Nothing is wrong with the photo, but no model looked at it. The model behind this service refuses its requests: the operator has to fix what is named above. Until then, it does not help to try again.",
  "gateway-lost": "The part of the service that worked on this request was lost. Nothing is wrong with the photo: try again.",
  "not-found": "It no longer exists: it was erased, or its storage time has ended. Locate the photo again.",
  "still-running": "Wait until it has ended, then go on from it.",
  "photos-gone": "The service does not keep this photo any more. Choose it again in the form, and write what you know into the hint.",
  "case-changed": "Somebody else changed this case meanwhile. Reload the page.",
  "case-full": "Begin another case, or erase what is not needed any more.",
  "deadline-exceeded": "Try again, with fewer attempts or less depth.",
  "internal": "Nothing is wrong with the photo. Try again; if it fails again, the operator can find the reason in the log of the service.",
  "unreachable": "Check that the service is still running (“make serve”), then try again.",
};
const FIELDS = {
  "claim": "Write the name of a town, region or country (Kharkiv, Italy, FR), a circle as latitude, longitude and km (50.6, 36.6, 20), or bbox:south,west,north,east; one place in each field.",
  "fact": "Shorten it to 1000 characters.",
  "not_there": "Name the place differently, or add “not in …” to what you know.",
  "within": "Use countries by name or code (Italy, FR), or a circle as latitude, longitude and km (41.9, 12.5, 200).",
  "budget": "Write an amount of text (16 tokens or more), seconds (up to 3600) or US dollars (up to 1000), at least one of them; or choose another depth.",
  "n_parallel": "Use a whole number of attempts, 1 to 32.",
  "target_radius_km": "Use a distance in km, such as 25.",
  "deadline_s": "Use seconds, such as 60.",
  "seed": "Use a whole number from 0, or leave it empty.",
  "hint": "Shorten the hint to 2000 characters.",
};
const TITLES = {
  "unauthorized": "An API key is needed",
  "invalid-photo": "This photo cannot be used",
  "unsupported-media-type": "This photo cannot be used",
  "too-large": "Too large",
  "invalid-request": "A part of the request is not understood",
  "still-running": "It is still at work",
  "photos-gone": "The photo is not kept any more",
  "overloaded": "Busy",
  "rollouts-failed": "The photo could not be looked at",
  "upstream-refused": "The model refuses the requests",
  "too-many-requests": "Too many requests",
  "unreachable": "The service does not answer",
};

/** What a person calls a field that is named in an error; the field itself where it has no other name. */
export function fieldName(field) {
  const budget = { "budget.tokens": "Budget, amount of text", "budget.seconds": "Budget, seconds", "budget.money_usd": "Budget, US dollars", budget: "Budget" }[field];
  if (budget) return budget;
  const [claim, number] = /^claim(?:\.(\d+))?$/.exec(field) ?? [];
  if (!claim) return field;
  return number ? `Claimed place ${Number(number) + 1}` : "Claimed place";
}

export class Problem extends Error {
  constructor(body, retryAfterS = null) {
    super(body.detail ?? "");
    this.code = String(body.type ?? "").startsWith(PREFIX) ? body.type.slice(PREFIX.length) : (body.code ?? "http");
    this.status = body.status ?? 0;
    this.body = body;
    this.retryAfterS = retryAfterS;
  }

  get title() {
    return TITLES[this.code] ?? this.body.title ?? "That did not work";
  }

  get fields() {
    return Array.isArray(this.body.errors) ? this.body.errors : [];
  }

  get advice() {
    const named = this.fields.map(({ field }) => FIELDS[String(field).split(".")[0]]).filter(Boolean);
    if (named.length) return named.join(" ");
    const wait = this.retryAfterS ? ` Try again in ${this.retryAfterS} s.` : "";
    const fallback = this.status >= 500 ? ADVICE.internal : "Change the request and try again.";
    return (ADVICE[this.code] ?? fallback) + wait;
  }
}

/** Why a reply is not what was asked for, also when something in between replied. */
export async function problemOf(response) {
  const retry = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  let body = {};
  try {
    body = await response.json();
  } catch {
    // not our reply: only the status is known
  }
  if (typeof body !== "object" || body === null) body = {};
  const plain = { status: response.status, title: response.statusText, detail: `The reply was ${response.status}.` };
  return new Problem({ ...plain, ...body }, Number.isFinite(retry) ? retry : null);
}

export const unreachable = (detail) =>
  new Problem({ type: `${PREFIX}unreachable`, status: 0, detail });
