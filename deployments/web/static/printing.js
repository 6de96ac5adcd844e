// Paper has no folds: what is folded away in the answer is opened for printing, and folded again afterwards.

import { byId } from "./dom.js";

const SIZE = { inlineSize: "680px", blockSize: "330px" }; // of the map on paper, as in print.css

/** Listen once for the whole page. `map` is given the size that it has on paper. */
export function startPrinting(map) {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#answer details:not([open])")];
    for (const one of opened) one.open = true;
    Object.assign(byId("map-view").style, SIZE);
    map.resized();
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    Object.assign(byId("map-view").style, { inlineSize: "", blockSize: "" });
    map.resized();
  });
}
