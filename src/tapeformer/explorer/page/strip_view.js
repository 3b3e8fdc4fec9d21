// The token strip: tokens flow to the left under arcs and windows that stand still.

import { cellColour, letterColour, levelDisc, pointer, roundedBox, write } from "./canvas.js";
import { counted } from "./dom.js";
import { chosenStack, drawn, isLit, shown, state } from "./state.js";
import { colours, levelColour } from "./theme.js";

const LEFT = 128;
const CONTROL = 13;
const SMALLEST = 8;
/** @type {any} */
let plan = null;

/** Draw the tokens up to the one that is shown. @param {any} g @param {number} width @param {number} height */
export function drawStrip(g, width, height) {
  const { token, part } = drawn();
  plan = laidOut(width, height, token, part);
  drawTitles(g, plan);
  g.save();
  g.beginPath();
  g.rect(LEFT, 0, plan.right - LEFT + 2, height);
  g.clip();
  const first = Math.max(0, token - Math.ceil((plan.right - LEFT) / plan.wide) - 2);
  for (let t = first; t <= token; t++) drawToken(g, plan, t);
  for (const group of plan.groups) drawWindow(g, plan, group);
  for (const head of [...plan.arched].reverse()) drawArc(g, plan, head);
  g.restore();
  g.strokeStyle = colours.ink;
  g.lineWidth = 2;
  roundedBox(g, plan.at(token) - plan.wide / 2 - 3, plan.y - 5, plan.wide + 6, plan.bottom - plan.y + 10, 6);
  g.stroke();
  drawSummary(g, plan);
}

/** @param {number} width @param {number} height @param {number} token @param {number} part */
function laidOut(width, height, token, part) {
  const stack = chosenStack();
  const arcs = Math.round(height * 0.26);
  const right = width - 150;
  const y = arcs + 12;
  const heads = uniqueHeads(state.reading.heads(token));
  const lit = heads.filter((head) => head.on).length;
  const far = heads.length ? heads[Math.min(heads.length, Math.max(4, lit)) - 1].back : 3;
  const wide = Math.max(15, Math.min(38, Math.floor((right - LEFT - 40) / (far + 1.5))));
  const groups = state.reading.groups(token, stack);
  const rows = groups.reduce((/** @type {number} */ sum, /** @type {any} */ group) => sum + group.rows.length, 0);
  const gap = 6;
  const high = Math.min(15, (height - y - 12 - 2 * CONTROL - gap * groups.length) / rows);
  let at = y + 2 * CONTROL + gap;
  const placed = groups.map((/** @type {any} */ group) => {
    const top = at;
    at += group.rows.length * high + gap;
    return { ...group, y: top, bottom: at - gap };
  });
  return {
    token, part, stack, arcs, right, y, wide, high, heads, arched: heads.slice(0, Math.max(4, lit + 2)), groups: placed, bottom: at - gap,
    at: (/** @type {number} */ t) => right - wide / 2 - (token - t) * wide,
    flowing: (/** @type {number} */ t) => right - wide / 2 - (token - t) * wide + (1 - part) * wide,
  };
}

/** One head for each look-back, the nearest first. @param {any[]} heads @returns {any[]} */
function uniqueHeads(heads) {
  const found = new Map();
  for (const head of heads) {
    const known = found.get(head.back);
    if (!known || (head.on && !known.on)) found.set(head.back, head);
  }
  return [...found.values()].filter((head) => head.back > 0).sort((a, b) => a.back - b.back);
}

/** @param {any} g @param {any} plan */
function drawTitles(g, plan) {
  write(g, "Chain of thought", 16, 18, 12, colours.ink3, { weight: 600, align: "left" });
  write(g, `tape ${state.tape}, ${state.side} stack`, 16, 34, 12, colours.ink3, { align: "left" });
  write(g, "state", LEFT - 14, plan.y + CONTROL / 2, 11.5, colours.ink3, { align: "right" });
  write(g, "under head", LEFT - 14, plan.y + CONTROL * 1.5, 11.5, colours.ink3, { align: "right" });
  for (const group of plan.groups) {
    const middle = (group.y + group.bottom) / 2;
    levelDisc(g, LEFT - 20, middle, group.level, group.on, Math.min(8.5, (group.bottom - group.y) / 2 + 2));
    write(g, group.title, LEFT - 34, middle, 11.5, colours.ink3, { align: "right" });
  }
}

/** @param {any} g @param {any} plan @param {number} t */
function drawToken(g, plan, t) {
  const x = plan.flowing(t) - plan.wide / 2 + 1.5;
  const wide = plan.wide - 3;
  drawControl(g, plan, t, x, wide);
  for (const group of plan.groups) {
    const live = plan.token - t < group.live;
    group.rows.forEach((/** @type {string[]} */ names, /** @type {number} */ row) => {
      names.forEach((name, i) => {
        const part = (wide - (names.length - 1)) / names.length;
        const box = { x: x + i * (part + 1), y: group.y + row * plan.high + 0.5, width: part, height: plan.high - 1 };
        drawField(g, plan, group, box, t, name, live);
      });
    });
  }
}

/** @param {any} g @param {any} plan @param {any} group @param {any} box @param {number} t @param {string} name @param {boolean} live */
function drawField(g, plan, group, box, t, name, live) {
  const cell = { id: fieldId(t, name), t, name, level: group.level };
  if (group.words) {
    const text = state.run.text(t, name);
    const size = Math.min(10, box.width / Math.max(1, text.length * 0.6));
    if (size > 4) write(g, text, box.x + box.width / 2, box.y + box.height / 2, size, colours.ink2);
    return;
  }
  const fill = cellColour(cell.id, group.level);
  g.globalAlpha = live ? 1 : 0.36;
  g.fillStyle = fill ?? colours.track;
  g.fillRect(box.x, box.y, box.width, box.height);
  g.globalAlpha = 1;
  const letters = shown(cell.id);
  const size = Math.min(10, box.height);
  if (live && fill && size >= 7 && letters.length * size * 0.62 < box.width) {
    write(g, letters, box.x + box.width / 2, box.y + box.height / 2 + 0.5, size, letterColour(cell.id, group.level), { mono: true, weight: 650 });
  }
  if (isLit(cell)) {
    g.strokeStyle = colours.now;
    g.lineWidth = 2;
    g.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
  }
}

/** The symbol of a field, without a mark of the construction. @param {number} t @param {string} name */
function fieldId(t, name) {
  const tape = Number(name.match(/^tape(\d+)/)?.[1] ?? 1);
  if (state.reading.ids) return state.reading.ids(name, tape, t, t + 1)[0];
  const id = state.run.idAt(t, name);
  if (id >= 0 && state.run.texts[id] === "-") return state.reading.dummy;
  return state.reading.plain ? state.reading.plain(id) : id;
}

/** A name with its middle left out where it is too long: names often differ at the end. @param {string} name @param {number} room */
function fitted(name, room) {
  if (name.length <= room) return name;
  return room < 5 ? name.slice(0, 1) : `${name.slice(0, room - 3)}…${name.slice(-2)}`;
}

/** State and symbol under the head; in the prompt, the symbol of the input.
 * @param {any} g @param {any} plan @param {number} t @param {number} x @param {number} wide */
function drawControl(g, plan, t, x, wide) {
  const { run } = state;
  const prompt = t < run.prompt;
  const running = !prompt && ["run", "begin", "rewind"].includes(run.phase(t));
  const now = t === plan.token;
  const name = running ? run.text(t, "state") : "·";
  const text = fitted(name, Math.floor((wide - 1) / (SMALLEST * 0.6)));
  const size = Math.max(SMALLEST, Math.min(11, (wide - 1) / (text.length * 0.6)));
  write(g, text, x + wide / 2, plan.y + CONTROL / 2, size, now ? colours.now : colours.ink2, { weight: now ? 650 : 500 });
  const under = prompt ? (t === 0 ? "⊥" : run.record.word[t - 1]) : running ? shown(state.reading.tape(t, state.tape, 1).head.id) : "";
  write(g, under ?? "", x + wide / 2, plan.y + CONTROL * 1.5, 11.5, prompt ? colours.ink : colours.ink2, { mono: true, weight: prompt ? 650 : 500 });
}

/** What can still be read: 1, 2, 4, 8, ... tokens. @param {any} g @param {any} plan @param {any} group */
function drawWindow(g, plan, group) {
  if (!group.on) return;
  const from = plan.at(plan.token - group.live + 1) - plan.wide / 2;
  const to = plan.at(plan.token) + plan.wide / 2;
  g.strokeStyle = levelColour(group.level);
  g.lineWidth = 2;
  roundedBox(g, from, group.y - 2.5, to - from, group.bottom - group.y + 5, 4);
  g.stroke();
}

/** From the newest token back to the one that a head reads. @param {any} g @param {any} plan @param {any} head */
function drawArc(g, plan, head) {
  const index = plan.heads.indexOf(head);
  const t = plan.token - head.back;
  const from = plan.at(plan.token);
  const to = plan.at(t);
  const base = plan.y - 5;
  const high = 10 + ((plan.arcs - 22) * (index + 1)) / plan.arched.length;
  const colour = head.on ? levelColour(head.level) : colours.ink3;
  const chosen = head.number === state.head;
  g.strokeStyle = head.on ? colour : colours.line2;
  g.lineWidth = head.on ? (chosen ? 3.4 : 2.4) : 1.4;
  if (!head.on) g.setLineDash([3, 4]);
  g.beginPath();
  g.moveTo(from, base);
  g.bezierCurveTo(from, base - high * 1.333, to, base - high * 1.333, to, base);
  g.stroke();
  g.setLineDash([]);
  if (head.on && t >= 0) drawFetched(g, plan, head, to, colour);
  const middle = (from + to) / 2;
  if (middle < LEFT + 20) return;
  const label = `−${head.back}`;
  const half = label.length * 4 + 3;
  g.fillStyle = colours.panel;
  g.fillRect(middle - half, base - high - 7, 2 * half, 14);
  write(g, label, middle, base - high + 0.5, 12, colour, { weight: 650 });
}

/** The cells that a head reads. @param {any} g @param {any} plan @param {any} head @param {number} x @param {string} colour */
function drawFetched(g, plan, head, x, colour) {
  pointer(g, x, plan.y - 1, 5, colour);
  const group = plan.groups.find((/** @type {any} */ group) => group.level === head.level);
  if (!group) return;
  g.globalAlpha = 0.5;
  g.strokeStyle = colour;
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(x, plan.y + 2 * CONTROL + 2);
  g.lineTo(x, group.y - 2);
  g.stroke();
  g.globalAlpha = 1;
  g.lineWidth = 2.2;
  g.strokeStyle = colours.now;
  roundedBox(g, x - plan.wide / 2 + 1, group.y - 1, plan.wide - 2, group.bottom - group.y + 2, 2);
  g.stroke();
}

/** @param {any} g @param {any} plan */
function drawSummary(g, plan) {
  const backs = plan.heads.map((/** @type {any} */ head) => head.back);
  const list = backs.length > 5 ? `${backs.slice(0, 3).join(", ")}, …, ${backs.at(-1)}` : backs.join(", ");
  const number = state.run.label(plan.token);
  const title = plan.token < state.run.prompt ? "the prompt" : `token ${number.toLocaleString("en-US")}`;
  const heads = `${counted(backs.length, "head")} look${backs.length === 1 ? "s" : ""} back`;
  const lines = [title, heads, list, "tokens, whatever", "the tape holds"];
  lines.forEach((line, i) => {
    const y = plan.y + 8 + i * 16 + (i ? 4 : 0);
    write(g, line, plan.right + 16, y, i ? 11.5 : 14, i ? colours.ink3 : colours.ink, { weight: i ? 500 : 650, align: "left" });
  });
}

/** The token, and the cell if there is one, at a point of the picture. @param {number} x @param {number} y */
export function stripCellAt(x, y) {
  if (!plan || x < LEFT || x > plan.right) return null;
  const t = Math.round(plan.token - (plan.at(plan.token) - x) / plan.wide);
  if (t < 0 || t > plan.token) return null;
  for (const head of plan.heads) {
    if (y < plan.y - 4 && Math.abs(x - plan.at(plan.token - head.back)) < plan.wide / 2) return { t, head: head.number };
  }
  for (const group of plan.groups) {
    const row = Math.floor((y - group.y) / plan.high);
    if (y < group.y || row >= group.rows.length) continue;
    const names = group.rows[row];
    const name = names[names.length > 1 && x > plan.at(t) ? 1 : 0];
    return { t, name, level: group.level, track: 0, id: fieldId(t, name) };
  }
  if (y >= plan.y && y < plan.y + CONTROL) return { t, name: "state", level: -1, track: 0, id: state.run.idAt(t, "state") };
  return { t };
}
