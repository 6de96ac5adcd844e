// Things that belong together: a marker on the map, a lane, a piece of evidence. They carry the same word in data-link,
// and whatever the pointer is on or the keyboard has reached marks the others.

/** The words of an element: `rollout-2`, `call-2-a1`, `candidate-0`. */
export const linkOf = {
  rollout: (id) => `rollout-${id}`,
  call: (rollout, call) => `call-${rollout}-${call}`,
  candidate: (rank) => `candidate-${rank}`,
  claim: (number) => `claim-${number}`,
  alternative: () => "alternative-place",
  answer: () => "answer-place",
};

const words = (element) => (element.dataset.link ?? "").split(" ").filter(Boolean);

function mark(of) {
  for (const old of document.querySelectorAll(".linked")) old.classList.remove("linked");
  if (!of) return;
  for (const word of words(of)) {
    for (const other of document.querySelectorAll(`[data-link~="${CSS.escape(word)}"]`)) other.classList.add("linked");
  }
}

/** The first element with one of these words outside of `beside`, for a jump from there. */
export function counterpart(element, beside) {
  for (const word of words(element)) {
    for (const other of document.querySelectorAll(`[data-link~="${CSS.escape(word)}"]`)) {
      if (!beside.contains(other)) return other;
    }
  }
  return null;
}

/** Listen once for the whole page. */
export function startLinking() {
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => mark(event.target.closest?.("[data-link]")));
  }
}
