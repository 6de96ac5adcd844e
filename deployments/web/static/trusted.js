// Trusted Types for the whole page: no string becomes markup, except the few that Leaflet writes about itself.
// Each is listed here; everything else is refused by the browser, whoever wrote it.

const MARKUP = new Set([
  "",
  "<svg/>",
  '<span aria-hidden="true">+</span>',
  '<span aria-hidden="true">&#x2212;</span>',
]);
const SCALE = /^[0-9]{1,5} k?m$/;

globalThis.trustedTypes?.createPolicy("default", {
  createHTML: (text) => (MARKUP.has(text) || SCALE.test(text) ? text : null),
});
