// What the two pictures of a stack share: its levels, the symbol under the head, how full a ring is.

import { roundedBox, write } from "./canvas.js";
import { shown, state } from "./state.js";
import { colours } from "./theme.js";

/** The levels that are drawn, and whether a further one is announced. @param {number} token */
export function levelsShown(token) {
  const highest = state.reading.highest(token);
  const known = state.reading.levels(token);
  return { count: Math.max(1, highest), more: highest < known && Boolean(state.reading.waiting(1)) };
}

/** The symbol under the head. @param {any} g @param {number} x @param {number} y @param {number} token */
export function drawHead(g, x, y, token) {
  const cell = state.reading.tape(token, state.tape, 1).head;
  roundedBox(g, x - 15, y - 15, 30, 30, 7);
  g.fillStyle = colours.track;
  g.fill();
  g.lineWidth = 2.5;
  g.strokeStyle = colours.now;
  g.stroke();
  const text = shown(cell.id);
  write(g, text === "□" ? "" : text, x, y + 0.5, Math.min(16, 32 / Math.max(1, text.length)), colours.ink, { weight: 600, mono: true });
}

/** How full a ring is, in so many slots, from a place in reading order on.
 * @param {any} ring @param {number} slots @param {number} first */
export function summary(ring, slots, first) {
  const found = new Float32Array(slots);
  const weight = slots / ring.size / state.reading.tracks;
  for (const track of ring.tracks) {
    for (let j = 0; j < ring.size; j++) {
      if (track[(j + first) % ring.size] !== state.reading.dummy) found[Math.floor((j * slots) / ring.size)] += weight;
    }
  }
  return found.map((amount) => Math.min(1, amount));
}
