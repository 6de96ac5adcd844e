// Examples of bodies from the schema, and a photo in place of the shortened one in them.

const SHORTENED = /[A-Za-z0-9+/]+…$/; // how the schema shortens the bytes of a photo

const named = (ref, schema) => schema.components.schemas[ref.split("/").at(-1)];

/** The example of a body: the named one, the only one, or one that is made of the required fields. */
export function exampleOf(media, schema, name = "") {
  if (media.example !== undefined) return media.example;
  const all = Object.values(media.examples ?? {});
  return (media.examples?.[name] ?? all[0])?.value ?? made(media.schema, schema);
}

function made(kind, schema) {
  if (kind.$ref) return made(named(kind.$ref, schema), schema);
  const given = kind.examples?.[0] ?? kind.default ?? kind.const ?? kind.enum?.[0];
  if (given !== undefined && given !== null) return given;
  const union = kind.anyOf ?? kind.oneOf ?? kind.allOf;
  if (union) return made(union[0], schema);
  if (kind.type === "object") return Object.fromEntries((kind.required ?? []).map((name) => [name, made(kind.properties[name], schema)]));
  if (kind.type === "array") return kind.minItems ? [made(kind.items, schema)] : [];
  return { integer: kind.minimum ?? 1, number: kind.minimum ?? 1, boolean: false, string: "" }[kind.type] ?? null;
}

/** The fields of a multipart body beside the photo, one a line: those that are required, and one that does something. */
export function fieldsOf(kind, schema) {
  const example = { claim: "Lugano" };
  const required = (kind.required ?? []).filter((name) => name !== "image");
  const more = kind.properties.n_parallel ? "n_parallel=2" : kind.properties.not_there ? "not_there=true" : "";
  return [...required.map((name) => `${name}=${example[name] ?? made(kind.properties[name], schema)}`), more].filter(Boolean).join("\n");
}

/** The same value with the photo where its bytes were shortened. */
export async function withPhoto(value, photo) {
  if (Array.isArray(value)) return Promise.all(value.map((one) => withPhoto(one, photo)));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([name, one]) => [name, await withPhoto(one, photo)])));
  }
  if (typeof value !== "string" || !SHORTENED.test(value)) return value;
  return value.replace(SHORTENED, await base64(await photo()));
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}
