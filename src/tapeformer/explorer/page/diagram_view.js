// The state diagram: a large machine is shown around its present state.

import { byId, html, svg } from "./dom.js";
import { state } from "./state.js";
import { colours } from "./theme.js";

const MOST_STATES = 14;
const ARROWS = /** @type {Record<string, string>} */ ({ L: "←", R: "→", S: "·" });
/** @type {any} */
let picture = { key: "" };

/** Light the state and the rule of a token. @param {number} t */
export function drawDiagram(t) {
  const current = state.run.phase(t) === "prompt" ? "" : state.run.text(t, "state");
  const running = state.run.steps(t) > 0 || state.run.phase(t) === "run" || state.run.phase(t) === "begin";
  const states = shownStates(current);
  const box = byId("diagram-picture");
  const key = `${state.run.id}/${states.join("\n")}/${box.clientWidth}x${box.clientHeight}/${colours.dark}`;
  if (picture.key !== key) picture = { key, ...laidOut(box, states) };
  const rule = state.run.rule(t);
  for (const [name, node] of picture.nodes) node.classList.toggle("now", running && name === current);
  for (const [pair, edge] of picture.edges) {
    const on = Boolean(rule) && pair === `${rule.state}\n${rule.next}`;
    edge.classList.toggle("now", on);
    edge.setAttribute("marker-end", on ? "url(#arrow-now)" : "url(#arrow)");
    if (on) edge.parentNode.append(edge);
  }
  showRule(t, rule);
}

/** All states of a small machine; of a large one those next to the present one. @param {string} current */
function shownStates(current) {
  const names = state.run.machine.states.map((/** @type {any} */ s) => s.name);
  if (names.length <= MOST_STATES) return names;
  const rules = state.run.machine.rules;
  const after = rules.filter((/** @type {any} */ r) => r.state === current).map((/** @type {any} */ r) => r.next);
  const before = rules.filter((/** @type {any} */ r) => r.next === current).map((/** @type {any} */ r) => r.state);
  return [...new Set([current || names[0], ...after, ...before])].slice(0, 9);
}

/** @param {any} box @param {string[]} states */
function laidOut(box, states) {
  const width = Math.max(160, box.clientWidth);
  const height = Math.max(100, box.clientHeight);
  box.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const places = new Map(states.map((name, i) => [name, placeOf(name, i, states.length, width, height)]));
  const fits = states.map((name) => ((places.get(name)?.w ?? 60) - 10) / Math.max(1, name.length) / 0.6);
  const size = Math.max(9.5, Math.min(13, ...fits));
  const edges = new Map();
  const pairs = new Set(state.run.machine.rules.map((/** @type {any} */ r) => `${r.state}\n${r.next}`));
  const lines = svg("g");
  for (const pair of pairs) {
    const [from, to] = pair.split("\n").map((/** @type {string} */ name) => places.get(name));
    if (!from || !to) continue;
    const back = pairs.has(pair.split("\n").reverse().join("\n"));
    const line = svg("path", { class: "edge", d: curve(from, to, back, height / 2), "marker-end": "url(#arrow)" });
    lines.append(line);
    edges.set(pair, line);
  }
  const nodes = new Map(states.map((name) => [name, node(name, places.get(name), size)]));
  const start = places.get(state.run.machine.start);
  const entry = start ? svg("path", { class: "edge entry", d: `M${start.x - start.w / 2 - 22} ${start.y}h18`, "marker-end": "url(#arrow)" }) : "";
  box.replaceChildren(tips(), lines, entry, ...nodes.values());
  return { nodes, edges };
}

function tips() {
  const tip = (/** @type {string} */ id, /** @type {number} */ size) =>
    svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: size, markerHeight: size, orient: "auto" }, svg("path", { d: "M0 .6 8 4 0 7.4z" }));
  return svg("defs", {}, tip("arrow", 9), tip("arrow-now", 12));
}

/** @param {string} name @param {number} i @param {number} count @param {number} width @param {number} height */
function placeOf(name, i, count, width, height) {
  if (count > 4) return inRows(name, i, count, width, height);
  const w = Math.min(112, Math.max(38, name.length * 7.6 + 20));
  const angle = Math.PI + (2 * Math.PI * i) / count;
  const across = Math.max(20, width / 2 - w / 2 - 28);
  return { x: width / 2 + across * Math.cos(angle), y: height / 2 + (height / 2 - 38) * Math.sin(angle), w, h: count > 8 ? 26 : 30 };
}

/** Many states stand in rows, in the order of reading along a winding line.
 * @param {string} name @param {number} i @param {number} count @param {number} width @param {number} height */
function inRows(name, i, count, width, height) {
  const rows = count > 10 ? 3 : 2;
  const each = Math.ceil(count / rows);
  const row = Math.floor(i / each);
  const inRow = Math.min(each, count - row * each);
  const at = row % 2 ? inRow - 1 - (i % each) : i % each;
  const room = (width - 34) / each;
  const w = Math.min(room - 10, Math.max(34, name.length * 6.6 + 16));
  const gap = (height - 70) / (rows - 1);
  return { x: 28 + room * (at + 0.5) + ((each - inRow) * room) / 2, y: 36 + row * gap, w, h: 26 };
}

/** @param {string} name @param {any} place @param {number} size */
function node(name, place, size) {
  const kind = state.run.machine.states.find((/** @type {any} */ s) => s.name === name)?.kind ?? "plain";
  const { x, y, w, h } = place;
  const room = Math.max(4, Math.floor((w - 8) / 5.8));
  const short = name.length > room ? `${name.slice(0, room - 1)}…` : name;
  const made = svg("g", { class: `node ${kind}` }, svg("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: h / 2 }));
  if (kind !== "plain") made.append(svg("rect", { class: "inner", x: x - w / 2 + 3, y: y - h / 2 + 3, width: w - 6, height: h - 6, rx: h / 2 - 3 }));
  made.append(svg("text", { x, y: y + 0.5, "font-size": size.toFixed(1) }, short), svg("title", {}, name));
  return made;
}

/** @param {any} from @param {any} to @param {boolean} back @param {number} middle */
function curve(from, to, back, middle) {
  if (from === to) {
    const up = from.y <= middle + 1 ? -1 : 1;
    const y = from.y + (up * from.h) / 2;
    return `M${from.x - 10} ${y + up} C${from.x - 24} ${y + up * 24} ${from.x + 24} ${y + up * 24} ${from.x + 10} ${y + up * 2}`;
  }
  const bend = back ? 0.22 : 0.1;
  const bx = (from.x + to.x) / 2 - (to.y - from.y) * bend;
  const by = (from.y + to.y) / 2 + (to.x - from.x) * bend;
  const [x1, y1] = rim(from, bx, by, 2);
  const [x2, y2] = rim(to, bx, by, 3);
  return `M${x1} ${y1} Q${bx} ${by} ${x2} ${y2}`;
}

/** Where a line from the middle of a box leaves it. @param {any} box @param {number} x @param {number} y @param {number} gap */
function rim(box, x, y, gap) {
  const dx = x - box.x || 1e-6;
  const dy = y - box.y || 1e-6;
  const part = Math.min((box.w / 2 + gap) / Math.abs(dx), (box.h / 2 + gap) / Math.abs(dy));
  return [box.x + dx * part, box.y + dy * part];
}

const PHASES = /** @type {Record<string, string>} */ ({
  prompt: "The prompt: no rule yet",
  start: "The prompt: no rule yet",
  wait: "Waiting for the input to come into reach",
  fill: "Filling the last block of the input",
  load: "Reading the input back onto tape 1",
  rewind: "Taking the tape head back to the first symbol",
  first: "Finding the first cell",
  begin: "Ready for the first step",
});

/** The rule in words of its file. @param {number} t @param {any} rule */
function showRule(t, rule) {
  const card = byId("rule");
  if (!rule) {
    const phase = state.run.phase(t);
    const waiting = phase === "run" ? (state.run.steps(t) ? "Between two steps: no rule in this token" : "Ready for the first step") : PHASES[phase];
    card.replaceChildren(html("span", { class: "plain" }, waiting ?? ""));
    return;
  }
  const blank = state.run.machine.blank;
  const visible = (/** @type {string[]} */ symbols) => symbols.map((s) => (s === blank ? "□" : s)).join(" ");
  const moves = [...rule.moves].map((move) => ARROWS[move]).join(" ");
  const parts = [
    html("span", {}, rule.state), html("b", {}, visible(rule.read)), html("span", { class: "arrow" }, "→"),
    html("b", {}, visible(rule.write)), html("span", {}, moves), html("span", { class: "arrow" }, "⇒"), html("span", {}, rule.next),
  ];
  const line = rule.line ? html("span", { class: "line", title: state.run.machine.source }, `line ${rule.line}`) : null;
  card.replaceChildren(html("span", { class: "words" }, ...parts.flatMap((part) => [part, " "])), ...(line ? [line] : []));
}
