// The attention matrix of a head: dense scores of the last queries over all keys in the window.

import { roundedBox, write } from "./canvas.js";
import { byId, grouped, html, setText } from "./dom.js";
import { state } from "./state.js";
import { colours, faded, levelColour } from "./theme.js";

const QUERIES = 14;
/** @type {any} */
let matrix = null;
let asked = "";

/** Ask for the scores of the chosen head up to a token. @param {number} t @param {() => void} redraw */
export async function loadAttention(t, redraw) {
  const { run } = state;
  const key = `${run.id}/${t}/${state.head}`;
  if (asked === key) return;
  asked = key;
  try {
    if (t < run.prompt) throw new Error("The prompt was not made by the model: step to a generated token.");
    const found = state.source.recorded ? byDistance(t) : await state.source.json(`runs/${run.id}/attention?token=${t}&head=${state.head}&queries=${QUERIES}`);
    if (asked !== key) return;
    matrix = { ...found, t };
  } catch (error) {
    matrix = { fault: String(/** @type {any} */ (error).message) };
  }
  redraw();
}

/** The buttons that choose a head. @param {(number: number) => void} choose @param {number} t */
export function layHeads(choose, t) {
  const model = state.run.modelAt(t);
  const select = byId("head");
  const key = `${state.run.id}/${model.start}`;
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...model.heads.map((/** @type {any} */ head) => html("option", { value: head.number }, `head ${head.number}: ${head.back} back`)));
    select.onchange = () => choose(Number(select.value));
  }
  select.value = String(state.head);
  const fault = matrix?.fault ?? "";
  const asker = matrix?.scores ? `From the last row comes ${tokenName(matrix.t)}.` : "";
  setText(byId("attention-note"), fault || `Each row is a token that asks (the query), each column a token it may look at (the key). The numbers are the scores q · (k + p), p for the position; the highest wins. ${asker}`);
}

/** @param {number} t */
function tokenName(t) {
  return t < state.run.prompt ? "the prompt" : `token ${grouped(state.run.label(t))}`;
}

/** In a recorded page the scores follow from the distance, as the weights said when it was made. @param {number} t */
function byDistance(t) {
  const model = state.run.modelAt(t);
  if (state.source.score(state.head, 0) === undefined) throw new Error("This head's scores are not in the recording.");
  const first = Math.max(model.start, t - model.window);
  const rows = [];
  for (let q = Math.max(first, t - QUERIES); q < t; q++) {
    const row = [];
    for (let k = first; k < t; k++) row.push(k > q ? -1 : state.source.score(state.head, q - k));
    rows.push(row);
  }
  return { scores: rows, first, step: 1, padding: 0, head: state.head };
}

/** @param {any} g @param {number} width @param {number} height */
export function drawAttention(g, width, height) {
  if (!matrix?.scores?.length) return;
  const { scores, step, padding } = matrix;
  const left = 62;
  const bottom = 26;
  const columns = scores[0].length;
  const wide = Math.min(30, (width - left - 12) / columns);
  const high = Math.min(30, (height - bottom - 8) / scores.length);
  const head = state.reading.heads(matrix.t).find((/** @type {any} */ h) => h.number === matrix.head);
  const colour = levelColour(head?.level ?? 1);
  const firstQuery = matrix.t - scores.length;
  scores.forEach((/** @type {number[]} */ row, /** @type {number} */ i) => {
    const most = Math.max(...row);
    row.forEach((score, j) => {
      const x = left + j * wide;
      const y = 4 + i * high;
      roundedBox(g, x + 0.5, y + 0.5, wide - 1, high - 1, Math.min(3, wide / 5));
      g.fillStyle = score < 0 ? "transparent" : score === 0 ? colours.track : score === most ? colour : faded(colour, 0.3);
      g.fill();
      const ink = score === most ? colours.panel : colours.ink3;
      if (score >= 0 && wide >= 11 && high >= 9) write(g, String(score), x + wide / 2, y + high / 2 + 0.5, Math.min(11, high * 0.8), ink, { weight: score === most ? 700 : 500 });
    });
    if (high >= 10 || i % 4 === 3) write(g, state.run.label(firstQuery + i).toLocaleString("en-US"), left - 8, 4 + i * high + high / 2, Math.min(11, Math.max(9, high)), colours.ink3, { align: "right" });
  });
  const y = 4 + scores.length * high + 14;
  const lastKey = matrix.first - padding + columns * step - 1;
  write(g, `keys: ${tokenName(Math.max(0, matrix.first - padding))} …`, left, y, 11, colours.ink3, { align: "left" });
  write(g, `… ${state.run.label(lastKey).toLocaleString("en-US")}${step > 1 ? `, ${step} tokens a column` : ""}`, left + columns * wide, y, 11, colours.ink3, { align: "right" });
}
