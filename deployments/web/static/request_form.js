// What is sent to the service: photos with the options of the form, a claim about them, or what is added to a request.

import { Claims } from "./claims.js";
import { byId } from "./dom.js";
import { Feed } from "./feed.js";

const DEPTHS = {
  auto: "as much work as the photo needs",
  direct: "one look, no tools: fast",
  standard: "a few rollouts, a few turns",
  deep: "every rollout, all tools: slow and thorough",
};

/** Say what the chosen depth means, now and whenever it is changed. */
export function startForm() {
  const tell = () => { byId("depth-note").textContent = DEPTHS[byId("depth").value]; };
  byId("depth").addEventListener("change", tell);
  tell();
}

/** A request about photos: where they were taken, or whether a claim about them is true. */
export function photosFeed(client, { files, claims, title, graceS }) {
  const form = new FormData();
  for (const file of files) form.append("image", file, "photo");
  for (const [name, value] of new FormData(byId("form"))) {
    if (value.trim()) form.append(name, value.trim());
  }
  if (claims.length) form.append("claim", JSON.stringify(claims));
  form.append("resume_grace_s", String(graceS));
  return new Feed(client, { form, path: claims.length ? "check" : "locate", title });
}

/** Another request about the photos of `live`: `claims` are checked, a `fact` is added, or a place is ruled out. */
export async function againFeed(client, live, { claims, fact, notThere, title }, graceS) {
  const id = live.pictures.request;
  if (claims) {
    const files = await Promise.all(live.photos.map((photo) => client.file(id, photo.sha256)));
    return photosFeed(client, { files, claims, title: Claims.title(claims), graceS });
  }
  const form = new FormData();
  if (fact) form.append("fact", fact);
  if (notThere) form.append("not_there", notThere === true ? "true" : JSON.stringify([notThere]));
  form.append("resume_grace_s", String(graceS));
  return new Feed(client, { form, path: `locate/${id}/continue`, title: title.slice(0, 200) });
}
