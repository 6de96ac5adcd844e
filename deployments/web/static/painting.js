// What needs the layout of the page waits for the next frame and is done once for all events that came before it.

const due = new Map();

/** Before the next frame, once for each owner: `measure()` reads the layout and returns what then changes it, or nothing. */
export function beforePaint(owner, measure) {
  if (!due.size) requestAnimationFrame(paint);
  due.set(owner, measure);
}

/** The whole page is measured before anything changes: otherwise the browser would lay it out once for each owner. */
function paint() {
  const changes = [...due.values()].map((measure) => measure());
  due.clear();
  for (const change of changes) change?.();
}
