// A stack's rings as a dial: the content turns clockwise, one column a token; outwards is deeper.

import { cellColour, drawCell, letterColour, levelDisc, pointer, roundedBox, write } from "./canvas.js";
import { levelsShown, summary } from "./ring_shapes.js";
import { isLit, shown, state } from "./state.js";
import { colours, levelColour } from "./theme.js";

/** @param {any} g @param {number} cx @param {number} cy @param {number} radius @param {any} stack @param {number} token @param {number} part
 * @param {any[]} boxes takes the cells that can be pointed at @returns {any} the dial, to find cells in */
export function drawDial(g, cx, cy, radius, stack, token, part, boxes) {
  const { count, more } = levelsShown(token);
  const tracks = state.reading.tracks;
  const inner = Math.max(34, radius * 0.2);
  const thick = (radius - 12 - inner) / count;
  const gap = Math.min(11, thick * 0.17);
  const step = Math.min((thick - gap) / tracks, 26);
  const dial = { cx, cy, radius, inner, thick, step, stack, token };
  if (more) {
    dashedCircle(g, cx, cy, radius);
    levelDisc(g, cx - radius * Math.cos(0.62), cy - radius * Math.sin(0.62), count + 1, false);
  }
  for (let level = count; level >= 1; level--) drawDialLevel(g, dial, level, part);
  drawDialCentre(g, dial, boxes);
  drawAxis(g, dial);
  if (part < 1) for (let level = 1; level <= count; level++) drawTraveller(g, dial, level, part);
  return dial;
}

/** @param {any} g @param {number} cx @param {number} cy @param {number} radius */
function dashedCircle(g, cx, cy, radius) {
  g.setLineDash([1.5, 5]);
  g.strokeStyle = colours.line2;
  g.lineWidth = 1.3;
  g.beginPath();
  g.arc(cx, cy, radius, 0, 2 * Math.PI);
  g.stroke();
  g.setLineDash([]);
}

/** The radius of a track's middle: track 0 is outermost, as outwards is deeper. @param {any} dial @param {number} level @param {number} track */
function radiusOf(dial, level, track) {
  return dial.inner + level * dial.thick - dial.step * (track + 0.5);
}

/** @param {any} g @param {any} dial @param {number} level @param {number} part */
function drawDialLevel(g, dial, level, part) {
  const { cx, cy, stack, token } = dial;
  const ring = state.reading.ring(token, stack, level);
  const outer = dial.inner + level * dial.thick;
  const middle = outer - (dial.step * state.reading.tracks) / 2;
  if (!ring) {
    dashedCircle(g, cx, cy, middle);
    levelDisc(g, cx - middle * Math.cos(0.95), cy - middle * Math.sin(0.95), level, false);
    return;
  }
  const angle = (2 * Math.PI) / ring.size;
  const turn = -(1 - part) * angle;
  if (outer * angle < 2) drawDenseRing(g, dial, ring, turn);
  else drawRingCells(g, dial, ring, angle, turn);
  drawMark(g, cx, cy, outer, -Math.PI / 2 - ring.mark * angle + turn, levelColour(level));
  drawProgress(g, dial, ring, part, angle, outer);
  levelDisc(g, cx - (outer - 1) * Math.cos(0.95), cy - (outer - 1) * Math.sin(0.95), level, true);
}

/** @param {any} g @param {any} dial @param {any} ring @param {number} angle @param {number} turn */
function drawRingCells(g, dial, ring, angle, turn) {
  const pad = Math.min(0.03, angle * 0.04) * (ring.size > 32 ? 0.4 : 1);
  for (let track = 0; track < state.reading.tracks; track++) {
    const radius = radiusOf(dial, ring.level, track);
    const inset = pad + 0.9 / radius;
    const size = Math.min(15, dial.step * 1.05);
    for (let j = 0; j < ring.size; j++) {
      const id = ring.tracks[track][j];
      const from = -Math.PI / 2 - (j + 1) * angle + turn;
      g.beginPath();
      g.arc(dial.cx, dial.cy, radius, from + inset, Math.max(from + inset + 0.001, from + angle - inset));
      g.lineWidth = Math.max(1, dial.step - 1.2);
      const fill = cellColour(id, ring.level);
      g.strokeStyle = fill ?? colours.track;
      g.stroke();
      if ((state.hovered || state.selected) && isLit(state.reading.cell(ring, j, track))) {
        g.lineWidth = Math.max(2, dial.step - 1.2);
        g.strokeStyle = colours.now;
        g.stroke();
      }
      const letters = shown(id);
      if (fill && size >= 8.8 && radius * angle > size * 0.75 * letters.length + 2) {
        const middle = from + angle / 2;
        const box = { x: dial.cx + radius * Math.cos(middle) - 20, y: dial.cy + radius * Math.sin(middle) - 8, width: 40, height: 16 };
        drawLetter(g, box, { id, level: ring.level }, size);
      }
    }
  }
}

/** @param {any} g @param {any} box @param {any} cell @param {number} size */
function drawLetter(g, box, cell, size) {
  const colour = letterColour(cell.id, cell.level);
  write(g, shown(cell.id), box.x + box.width / 2, box.y + box.height / 2 + 0.5, size, colour, { weight: 650, mono: true });
}

/** @param {any} g @param {any} dial @param {any} ring @param {number} turn */
function drawDenseRing(g, dial, ring, turn) {
  const slots = Math.max(60, Math.floor(2 * Math.PI * (dial.inner + ring.level * dial.thick)));
  const filled = summary(ring, slots, 0);
  const angle = (2 * Math.PI) / slots;
  const tracks = state.reading.tracks;
  const low = radiusOf(dial, ring.level, tracks - 1) - dial.step / 2;
  const high = radiusOf(dial, ring.level, 0) + dial.step / 2;
  g.lineWidth = high - low;
  g.strokeStyle = colours.track;
  g.beginPath();
  g.arc(dial.cx, dial.cy, (low + high) / 2, 0, 2 * Math.PI);
  g.stroke();
  g.strokeStyle = levelColour(ring.level);
  filled.forEach((amount, slot) => {
    if (!amount) return;
    const thick = (high - low) * amount;
    const from = -Math.PI / 2 - (slot + 1) * angle + turn;
    g.lineWidth = thick;
    g.beginPath();
    g.arc(dial.cx, dial.cy, high - thick / 2, from, from + angle * 1.05);
    g.stroke();
  });
}

/** The triangle at position 0. @param {any} g @param {number} cx @param {number} cy @param {number} radius @param {number} angle @param {string} colour */
function drawMark(g, cx, cy, radius, angle, colour) {
  const near = radius + 1.5;
  const far = near + 6.5;
  const side = 5 / near;
  g.beginPath();
  g.moveTo(cx + near * Math.cos(angle), cy + near * Math.sin(angle));
  g.lineTo(cx + far * Math.cos(angle - side), cy + far * Math.sin(angle - side));
  g.lineTo(cx + far * Math.cos(angle + side), cy + far * Math.sin(angle + side));
  g.closePath();
  g.fillStyle = colour;
  g.fill();
}

/** How much of a block has moved, as an arc. @param {any} g @param {any} dial @param {any} ring @param {number} part @param {number} angle @param {number} outer */
function drawProgress(g, dial, ring, part, angle, outer) {
  const move = state.reading.moves(dial.token, dial.stack, ring.level);
  if (!move) return;
  const from = move.operation === "push" ? -Math.PI / 2 : Math.PI / 2;
  const length = Math.max(0.02, (move.done - 1 + part) * angle);
  g.lineCap = "round";
  g.strokeStyle = colours.now;
  g.lineWidth = 3;
  g.beginPath();
  g.arc(dial.cx, dial.cy, outer + 2, from, from + length);
  g.stroke();
  g.lineCap = "butt";
}

/** Level 0, in the middle. @param {any} g @param {any} dial @param {any[]} boxes */
function drawDialCentre(g, dial, boxes) {
  const top = state.reading.top(dial.token, dial.stack);
  if (!top.length) return;
  const high = Math.min(16, (dial.inner * 2 - 14) / top.length);
  const wide = Math.max(18, high * 1.5);
  top.forEach((/** @type {any} */ cell, /** @type {number} */ i) => {
    const y = dial.cy - (high * top.length) / 2 + i * high;
    const box = { x: dial.cx - wide / 2, y: y + 0.6, width: wide, height: high - 1.2 };
    drawCell(g, box, cell, { lit: isLit(cell), size: Math.min(13, high * 0.92) });
    boxes.push({ ...box, cell });
  });
  levelDisc(g, dial.cx - wide / 2 - 9, dial.cy - (high * top.length) / 2 + 7, 0, true);
}

/** The line where everything is read and written. @param {any} g @param {any} dial */
function drawAxis(g, dial) {
  g.strokeStyle = colours.now;
  g.lineWidth = 1.5;
  for (const sign of [-1, 1]) {
    g.beginPath();
    g.moveTo(dial.cx, dial.cy + sign * (dial.inner - 2));
    g.lineTo(dial.cx, dial.cy + sign * (dial.radius + 3));
    g.stroke();
  }
  pointer(g, dial.cx, dial.cy - dial.radius - 1, 6, colours.now);
  const [before, after] = state.reading.axis;
  write(g, before, dial.cx - 12, dial.cy - dial.radius - 7, 11.5, colours.ink3, { align: "right" });
  write(g, after, dial.cx + 12, dial.cy - dial.radius - 7, 11.5, colours.ink3, { align: "left" });
}

/** A symbol on its way between two levels. @param {any} g @param {any} dial @param {number} level @param {number} part */
function drawTraveller(g, dial, level, part) {
  const move = state.reading.moves(dial.token, dial.stack, level);
  if (!move) return;
  const eased = Math.min(1, part * 1.25);
  const place = (/** @type {number} */ at, /** @type {number} */ track) => (at === 0 ? 0 : radiusOf(dial, at, track));
  const push = move.operation === "push";
  const from = push ? dial.cy - place(level - 1, 0) : dial.cy + place(level, move.moved.track);
  const to = push ? dial.cy - place(level, 0) : dial.cy - place(level - 1, 0);
  const x = dial.cx + (push ? 0 : -Math.sin(Math.PI * eased) * 16);
  const y = from + (to - from) * eased;
  roundedBox(g, x - 9, y - 9, 18, 18, 5);
  g.fillStyle = colours.now;
  g.fill();
  write(g, shown(move.moved.id), x, y + 0.5, 12, colours.panel, { weight: 700, mono: true });
}

/** @param {any} dial @param {number} dx @param {number} dy */
export function dialCellAt(dial, dx, dy) {
  const distance = Math.hypot(dx, dy);
  if (distance < dial.inner || distance > dial.radius) return null;
  const level = Math.ceil((distance - dial.inner) / dial.thick);
  const track = Math.floor((dial.inner + level * dial.thick - distance) / dial.step);
  const ring = state.reading.ring(dial.token, dial.stack, level);
  if (!ring || track >= state.reading.tracks) return null;
  const j = Math.floor((-Math.atan2(dx, -dy) / (2 * Math.PI)) * ring.size);
  return state.reading.cell(ring, ((j % ring.size) + ring.size) % ring.size, track);
}
