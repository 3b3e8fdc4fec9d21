// The rings of a stack, twice: as a dial that turns, and unrolled with a position that sweeps.

import { dialCellAt, drawDial } from "./dial_view.js";
import { drawHead } from "./ring_shapes.js";
import { chosenStack, drawn, state } from "./state.js";
import { drawUnrolled } from "./unrolled_view.js";

/** Cells on the picture: boxes, and rings of dials. @type {any[]} */
let boxes = [];
/** @type {any[]} */
let dials = [];

/** Draw the rings of the stack that is looked at, or of both stacks of its tape.
 * @param {any} g @param {number} width @param {number} height */
export function drawRings(g, width, height) {
  boxes = [];
  dials = [];
  const { token, part } = drawn();
  const pair = state.reading.stacks.filter((/** @type {any} */ s) => s.tape === state.tape);
  if (state.both) {
    const gap = 64;
    const wide = (width - 44 - gap) / 2;
    pair.forEach((/** @type {any} */ stack, /** @type {number} */ i) => {
      drawUnrolled(g, { x: 22 + i * (wide + gap), y: 22, width: wide, height: height - 34 }, stack, token, part, false, boxes);
    });
    drawHead(g, width / 2, 36, token);
    return;
  }
  const stack = chosenStack();
  const radius = Math.min((height - 40) / 2, width * 0.21);
  dials.push(drawDial(g, radius + 26, height / 2 + 8, radius, stack, token, part, boxes));
  const x = 2 * radius + 66;
  drawUnrolled(g, { x, y: 18, width: width - x - 16, height: height - 28 }, stack, token, part, true, boxes);
}

/** The cell at a point of the picture. @param {number} x @param {number} y */
export function ringCellAt(x, y) {
  for (const box of boxes) {
    if (x < box.x || x >= box.x + box.width || y < box.y || y >= box.y + box.height) continue;
    if (!box.ring) return box.cell;
    const place = Math.floor((x - box.x) / box.wide);
    const track = state.reading.tracks - 1 - Math.floor((y - box.y) / box.step);
    return state.reading.cell(box.ring, (box.ring.mark + place) % box.ring.size, track);
  }
  for (const dial of dials) {
    const found = dialCellAt(dial, x - dial.cx, y - dial.cy);
    if (found) return found;
  }
  return null;
}
