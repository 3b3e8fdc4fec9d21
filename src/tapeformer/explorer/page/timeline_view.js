// The time line: phases, where levels start, growth, differences, and the place that is shown.

import { levelDisc, roundedBox, write } from "./canvas.js";
import { state } from "./state.js";
import { colours } from "./theme.js";

const EDGE = 9;

/** @param {any} g @param {number} width @param {number} _height */
export function drawTimeline(g, width, _height) {
  const { run } = state;
  const y = 21;
  const place = (/** @type {number} */ t) => EDGE + ((width - 2 * EDGE) * Math.max(0, t)) / Math.max(1, run.last);
  for (const part of phases()) {
    const from = place(part.from - 0.5);
    const to = place(part.to + 0.5);
    roundedBox(g, from + 0.5, y - 4, Math.max(1, to - from - 1), 8, 3);
    g.fillStyle = part.run ? colours.line2 : colours.track;
    g.fill();
    if (to - from > part.title.length * 6.4) write(g, part.title, (from + to) / 2, y - 13, 11, colours.ink3);
  }
  const x = place(state.position);
  roundedBox(g, EDGE, y - 2, Math.max(0, x - EDGE), 4, 2);
  g.fillStyle = colours.ink2;
  g.fill();
  let free = -20;
  for (const event of run.record.events) {
    const at = place(event.token);
    if (event.kind === "level" && at > free) {
      levelDisc(g, at, y + 15, event.level, true, 6.5);
      free = at + 14;
    }
    if (event.kind === "difference") drawCross(g, at, y);
  }
  if (run.record.broken?.token != null) drawCross(g, place(run.record.broken.token), y);
  g.beginPath();
  g.arc(x, y, 8, 0, 2 * Math.PI);
  g.fillStyle = colours.now;
  g.fill();
  g.lineWidth = 2.5;
  g.strokeStyle = colours.panel;
  g.stroke();
}

/** @param {any} g @param {number} x @param {number} y */
function drawCross(g, x, y) {
  g.strokeStyle = colours.bad;
  g.lineWidth = 2.5;
  g.beginPath();
  for (const sign of [-1, 1]) {
    g.moveTo(x - 5, y - 5 * sign);
    g.lineTo(x + 5, y + 5 * sign);
  }
  g.stroke();
}

/** The parts of a run: prompt, reading it, steps. */
function phases() {
  const { run } = state;
  const begins = run.record.boot === null ? run.tokens : run.prompt + run.record.boot;
  const model = run.models[0];
  const several = model.steps_per_token > 1 ? `${model.steps_per_token} steps per token` : "one token per step";
  const steps = model.construction === "realtime" && model.base === 2 ? several : "steps";
  return [
    { title: "prompt", from: 0, to: run.prompt - 1, run: false },
    { title: "reading it", from: run.prompt, to: begins - 1, run: false },
    { title: steps, from: begins, to: run.last, run: true },
  ].filter((part) => part.to >= part.from);
}
