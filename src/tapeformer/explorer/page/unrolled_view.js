// A stack's levels unrolled: the content stands still and the reading position sweeps; downwards is deeper.

import { drawCell, levelDisc, pointer, roundedBox, write } from "./canvas.js";
import { drawHead, levelsShown, summary } from "./ring_shapes.js";
import { isLit, state } from "./state.js";
import { colours, faded, levelColour } from "./theme.js";

/** @param {any} g @param {any} area @param {any} stack @param {number} token @param {number} part @param {boolean} single
 * @param {any[]} boxes takes the cells that can be pointed at */
export function drawUnrolled(g, area, stack, token, part, single, boxes) {
  const { count, more } = levelsShown(token);
  const tracks = state.reading.tracks;
  const gutter = single ? 122 : 4;
  const gap = count > 4 ? 18 : count > 3 || area.height < 300 ? 22 : 28;
  const line = { x: area.x + 26, width: area.width - 26 - gutter, top: 28 };
  const room = area.height - line.top - (more ? 30 : 0) - gap * count;
  const step = Math.min(tracks > 2 ? 23 : 44, room / (count * tracks));
  const top = drawTop(g, area, line, stack, token, single, boxes);
  for (let level = 1; level <= count; level++) {
    const y = area.y + line.top + gap + (level - 1) * (step * tracks + gap);
    const frame = { x: line.x, width: line.width, y, step, gap, area, top, single, boxes };
    drawUnrolledLevel(g, frame, stack, level, token, part);
  }
  if (more) drawWaiting(g, area, line, count, area.y + line.top + gap + count * (step * tracks + gap) + 4);
}

/** Level 0 in the order of the tape, beside the head. @param {any} g @param {any} area @param {any} line @param {any} stack @param {number} token @param {boolean} single @param {any[]} boxes */
function drawTop(g, area, line, stack, token, single, boxes) {
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
  frame.boxes.push({ x: frame.x, y: frame.y, width: frame.width, height: frame.step * tracks, ring, wide, step: frame.step });
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
