// The rings of a stack, twice: as a dial that turns, and unrolled with a position that sweeps.

import { cellColour, drawCell, letterColour, levelDisc, pointer, roundedBox, write } from "./canvas.js";
import { chosenStack, drawn, isLit, shown, state } from "./state.js";
import { colours, faded, levelColour } from "./theme.js";

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
      drawUnrolled(g, { x: 22 + i * (wide + gap), y: 22, width: wide, height: height - 34 }, stack, token, part, false);
    });
    drawHead(g, width / 2, 36, token);
    return;
  }
  const stack = chosenStack();
  const radius = Math.min((height - 40) / 2, width * 0.21);
  drawDial(g, radius + 26, height / 2 + 8, radius, stack, token, part);
  const x = 2 * radius + 66;
  drawUnrolled(g, { x, y: 18, width: width - x - 16, height: height - 28 }, stack, token, part, true);
}

/** The levels that are drawn, and whether a further one is announced. @param {number} token */
function levelsShown(token) {
  const highest = state.reading.highest(token);
  const known = state.reading.levels(token);
  return { count: Math.max(1, highest), more: highest < known && Boolean(state.reading.waiting(1)) };
}

/** The symbol under the head. @param {any} g @param {number} x @param {number} y @param {number} token */
function drawHead(g, x, y, token) {
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

/** @param {any} g @param {number} cx @param {number} cy @param {number} radius @param {any} stack @param {number} token @param {number} part */
function drawDial(g, cx, cy, radius, stack, token, part) {
  const { count, more } = levelsShown(token);
  const tracks = state.reading.tracks;
  const inner = Math.max(34, radius * 0.2);
  const thick = (radius - 12 - inner) / count;
  const gap = Math.min(11, thick * 0.17);
  const step = Math.min((thick - gap) / tracks, 26);
  const dial = { cx, cy, radius, inner, thick, step, stack, token };
  dials.push(dial);
  if (more) {
    dashedCircle(g, cx, cy, radius);
    levelDisc(g, cx - radius * Math.cos(0.62), cy - radius * Math.sin(0.62), count + 1, false);
  }
  for (let level = count; level >= 1; level--) drawDialLevel(g, dial, level, part);
  drawDialCentre(g, dial);
  drawAxis(g, dial);
  if (part < 1) for (let level = 1; level <= count; level++) drawTraveller(g, dial, level, part);
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

/** How full a ring is, in so many slots, from a place in reading order on.
 * @param {any} ring @param {number} slots @param {number} first */
function summary(ring, slots, first) {
  const found = new Float32Array(slots);
  const weight = slots / ring.size / state.reading.tracks;
  for (const track of ring.tracks) {
    for (let j = 0; j < ring.size; j++) {
      if (track[(j + first) % ring.size] !== state.reading.dummy) found[Math.floor((j * slots) / ring.size)] += weight;
    }
  }
  return found.map((amount) => Math.min(1, amount));
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

/** Level 0, in the middle. @param {any} g @param {any} dial */
function drawDialCentre(g, dial) {
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

/** @param {any} g @param {any} area @param {any} stack @param {number} token @param {number} part @param {boolean} single */
function drawUnrolled(g, area, stack, token, part, single) {
  const { count, more } = levelsShown(token);
  const tracks = state.reading.tracks;
  const gutter = single ? 122 : 4;
  const gap = count > 4 ? 18 : count > 3 || area.height < 300 ? 22 : 28;
  const line = { x: area.x + 26, width: area.width - 26 - gutter, top: 28 };
  const room = area.height - line.top - (more ? 30 : 0) - gap * count;
  const step = Math.min(tracks > 2 ? 23 : 30, room / (count * tracks));
  const top = drawTop(g, area, line, stack, token, single);
  for (let level = 1; level <= count; level++) {
    const y = area.y + line.top + gap + (level - 1) * (step * tracks + gap);
    const frame = { x: line.x, width: line.width, y, step, gap, area, gutter, top, single };
    drawUnrolledLevel(g, frame, stack, level, token, part);
  }
  if (more) drawWaiting(g, area, line, count, area.y + line.top + gap + count * (step * tracks + gap) + 4);
}

/** Level 0 in the order of the tape, beside the head. @param {any} g @param {any} area @param {any} line @param {any} stack @param {number} token @param {boolean} single */
function drawTop(g, area, line, stack, token, single) {
  const cells = state.reading.top(token, stack);
  const wide = 34;
  const left = stack.side === "left";
  const beside = single ? wide + 14 : 0;
  const x = left ? line.x + line.width - wide * cells.length - beside : line.x + beside;
  cells.forEach((/** @type {any} */ cell, /** @type {number} */ i) => {
    const at = x + wide * (left ? i : cells.length - 1 - i);
    const box = { x: at + 1.5, y: area.y, width: wide - 3, height: line.top };
    drawCell(g, box, cell, { lit: isLit(cell), size: 15, radius: 5 });
    boxes.push({ ...box, cell });
  });
  levelDisc(g, area.x + 9, area.y + line.top / 2, 0, true);
  if (single) {
    drawHead(g, left ? line.x + line.width - wide / 2 : line.x + wide / 2, area.y + line.top / 2, token);
    drawNote(g, line.x + line.width + 14, area.y + line.top / 2, state.reading.note(token, 0, stack));
    const room = left ? x - line.x : line.x + line.width - x - wide * cells.length;
    const side = left ? { x: line.x, align: "left" } : { x: line.x + line.width, align: "right" };
    if (room > 280) write(g, "the top of the stack is next to the head", side.x, area.y + line.top / 2, 12, colours.ink3, { align: side.align });
  }
  return { x, width: wide * cells.length };
}

/** @param {any} g @param {number} x @param {number} y @param {string[]} lines */
function drawNote(g, x, y, lines) {
  write(g, lines[0], x, y - 7.5, 12, colours.ink2, { align: "left", weight: 600 });
  write(g, lines[1], x, y + 8.5, 11.5, colours.ink3, { align: "left" });
}

/** @param {any} g @param {any} frame @param {any} stack @param {number} level @param {number} token @param {number} part */
function drawUnrolledLevel(g, frame, stack, level, token, part) {
  const tracks = state.reading.tracks;
  const height = frame.step * tracks;
  const ring = state.reading.ring(token, stack, level);
  levelDisc(g, frame.area.x + 9, frame.y + height / 2, level, Boolean(ring));
  if (frame.single) drawNote(g, frame.x + frame.width + 14, frame.y + height / 2, state.reading.note(token, level, stack));
  if (!ring) {
    g.setLineDash([2, 5]);
    g.strokeStyle = colours.line2;
    g.lineWidth = 1;
    g.strokeRect(frame.x + 0.5, frame.y + 0.5, frame.width - 1, height - 1);
    g.setLineDash([]);
    write(g, "not started", frame.x + frame.width / 2, frame.y + height / 2, 12, colours.ink3);
    return;
  }
  const wide = frame.width / ring.size;
  if (wide < 3) drawDenseRow(g, frame, ring, height);
  else drawRow(g, frame, ring, wide);
  drawMove(g, frame, ring, height, wide);
  const x = frame.x + (ring.passed - 1 + part) * wide;
  g.strokeStyle = colours.now;
  g.lineWidth = 1.6;
  g.beginPath();
  g.moveTo(x, frame.y - 3);
  g.lineTo(x, frame.y + height + 3);
  g.stroke();
  pointer(g, x, frame.y - 2, 5, colours.now);
}

/** @param {any} g @param {any} frame @param {any} ring @param {number} wide */
function drawRow(g, frame, ring, wide) {
  const tracks = state.reading.tracks;
  const size = wide > 8 && frame.step >= 8 ? Math.min(15, Math.max(9, frame.step * 0.86)) : 0;
  const lighting = state.hovered || state.selected;
  for (let place = 0; place < ring.size; place++) {
    const j = (ring.mark + place) % ring.size;
    for (let track = 0; track < tracks; track++) {
      const box = {
        x: frame.x + place * wide + Math.min(1, wide * 0.1), y: frame.y + (tracks - 1 - track) * frame.step + 0.7,
        width: Math.max(1, wide - Math.min(2, wide * 0.2)), height: frame.step - 1.4,
      };
      const cell = { id: ring.tracks[track][j], level: ring.level };
      const lit = lighting && isLit(state.reading.cell(ring, j, track));
      drawCell(g, box, cell, { lit, size, radius: Math.min(3, wide / 4) });
    }
  }
  boxes.push({ x: frame.x, y: frame.y, width: frame.width, height: frame.step * tracks, ring, wide, step: frame.step });
}

/** One bar for each point of the screen, as high as the ring is full there. @param {any} g @param {any} frame @param {any} ring @param {number} height */
function drawDenseRow(g, frame, ring, height) {
  g.fillStyle = colours.track;
  g.fillRect(frame.x, frame.y, frame.width, height);
  g.fillStyle = levelColour(ring.level);
  const slots = Math.floor(frame.width);
  summary(ring, slots, ring.mark).forEach((amount, slot) => {
    if (amount) g.fillRect(frame.x + (slot * frame.width) / slots, frame.y + height * (1 - amount), 1.2, height * amount);
  });
}

/** The block that is filled or emptied, joined to the level below. @param {any} g @param {any} frame @param {any} ring @param {number} height @param {number} wide */
function drawMove(g, frame, ring, height, wide) {
  const move = state.reading.moves(ring.t, ring.stack, ring.level);
  if (!move) return;
  const block = ring.block * wide;
  const x = frame.x + state.reading.movedBlock(ring, move) * block;
  const above = frame.y - frame.gap;
  const [from, to] = ring.level === 1 ? [frame.top.x, frame.top.x + frame.top.width] : [frame.x, frame.x + frame.width];
  g.beginPath();
  g.moveTo(from, above + 2);
  g.lineTo(to, above + 2);
  g.lineTo(x + block, frame.y - 2);
  g.lineTo(x, frame.y - 2);
  g.closePath();
  g.fillStyle = faded(colours.now, colours.dark ? 0.13 : 0.07);
  g.fill();
  g.strokeStyle = colours.now;
  g.lineWidth = 1.8;
  roundedBox(g, x, frame.y - 1.5, block, height + 3, 4);
  g.stroke();
  const text = `${move.operation === "push" ? "↓" : "↑"} ${move.of > 1 ? `${move.done} of ${move.of}` : "1"}`;
  const sweep = frame.x + ring.passed * wide;
  let at = (x + block / 2 + (from + to) / 2) / 2;
  if (Math.abs(at - sweep) < 34) at += at < sweep ? -34 : 34;
  write(g, text, at, frame.y - frame.gap / 2 + 1, frame.gap < 20 ? 11.5 : 12.5, colours.now, { weight: 650 });
}

/** @param {any} g @param {any} area @param {any} line @param {number} count @param {number} y */
function drawWaiting(g, area, line, count, y) {
  const text = state.reading.waiting(count + 1);
  levelDisc(g, area.x + 9, y + 2, count + 1, false);
  g.setLineDash([1.5, 5]);
  g.strokeStyle = colours.line2;
  g.lineWidth = 1.3;
  const half = text.length * 3.2 + 8;
  for (const [from, to] of [[line.x, line.x + line.width / 2 - half], [line.x + line.width / 2 + half, line.x + line.width]]) {
    if (to <= from) continue;
    g.beginPath();
    g.moveTo(from, y + 2);
    g.lineTo(to, y + 2);
    g.stroke();
  }
  g.setLineDash([]);
  write(g, text, line.x + line.width / 2, y + 2.5, 12, colours.ink3);
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

/** @param {any} dial @param {number} dx @param {number} dy */
function dialCellAt(dial, dx, dy) {
  const distance = Math.hypot(dx, dy);
  if (distance < dial.inner || distance > dial.radius) return null;
  const level = Math.ceil((distance - dial.inner) / dial.thick);
  const track = Math.floor((dial.inner + level * dial.thick - distance) / dial.step);
  const ring = state.reading.ring(dial.token, dial.stack, level);
  if (!ring || track >= state.reading.tracks) return null;
  const j = Math.floor((-Math.atan2(dx, -dy) / (2 * Math.PI)) * ring.size);
  return state.reading.cell(ring, ((j % ring.size) + ring.size) % ring.size, track);
}
