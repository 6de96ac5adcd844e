// Paper has no folds: what is folded away in the answer is opened for printing, and folded again afterwards.

/** Listen once for the whole page. */
export function startPrinting() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#answer details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}
