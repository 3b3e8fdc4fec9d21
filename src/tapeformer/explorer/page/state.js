// What the page shows now: one run, one place in it, one stack, one thing selected.

import { clamp } from "./dom.js";
import { PaperReading } from "./paper.js";
import { PostReading } from "./post.js";
import { RealtimeReading } from "./realtime.js";
import { Truth } from "./truth.js";

const READINGS = /** @type {Record<string, any>} */ ({
  realtime: RealtimeReading, paper: PaperReading, post: PostReading,
});

/** @type {any} */
export const state = {
  source: null,
  run: null,
  reading: null,
  truth: null,
  /** The token that is shown, and on the way there a place between two tokens. */
  target: 0,
  position: 0,
  playing: false,
  speed: 1,
  tape: 1,
  side: "left",
  both: false,
  head: 0,
  view: "tokens",
  name: null,
  selected: null,
  hovered: null,
  sound: null,
};

/** Show a run. @param {any} run */
export function takeRun(run) {
  state.run = run;
  state.reading = new READINGS[run.models[0].construction](run);
  state.truth = new Truth(run);
  state.tape = Math.min(state.tape, run.machine.tapes);
  state.selected = state.hovered = null;
}

/** The token that is drawn, and how far it has come: from 0, the token before, to 1. */
export function drawn() {
  const token = Math.max(0, Math.ceil(state.position - 1e-6));
  return { token, part: token === 0 ? 1 : clamp(state.position - (token - 1), 0, 1) };
}

/** The stack that is looked at. */
export function chosenStack() {
  return state.reading.stacks.find(
    (/** @type {any} */ stack) => stack.tape === state.tape && stack.side === state.side,
  );
}

/** @param {any} a @param {any} b */
export function sameCell(a, b) {
  return Boolean(a && b && a.t === b.t && a.name === b.name && a.name);
}

/** Whether a cell is pointed at or selected. @param {any} cell */
export function isLit(cell) {
  return sameCell(cell, state.hovered) || sameCell(cell, state.selected);
}

/** A symbol as it is shown. @param {number} id */
export function shown(id) {
  if (id < 0 || id === state.reading.dummy) return "";
  if (id === state.reading.bottom) return "⊥";
  const text = state.run.texts[id];
  return text === state.run.machine.blank ? "□" : text;
}

/** How strong the colour of a symbol is. @param {number} id */
export function toneOf(id) {
  const { letters, machine, texts } = state.run;
  if (texts[id] === machine.blank) return 0.16;
  const at = letters.indexOf(texts[id]);
  return letters.length < 2 || at < 0 ? 0.9 : 0.38 + (0.57 * at) / (letters.length - 1);
}

/** Compare the tapes that the tokens hold with the direct simulation's, cell by cell.
 * Says which cells differ, by tape and place relative to the head; null where there is nothing to compare.
 * @param {number} t @param {number} most */
export function tapeDifferences(t, most) {
  if (!state.reading.settled(t)) return null;
  const truth = state.truth.at(t);
  if (!truth) return null;
  /** @type {any[]} */
  const found = [];
  for (let tape = 1; tape <= state.run.machine.tapes; tape++) {
    const { left, head, right } = state.reading.tape(t, tape, most);
    const wanted = truth[tape - 1];
    const check = (/** @type {number} */ place, /** @type {any} */ cell) => {
      const expected = wanted.cells.get(wanted.head + place) ?? state.run.machine.blank;
      const got = cell ? state.run.texts[cell.id] : state.run.machine.blank;
      if (expected !== got) found.push({ tape, place, expected, got });
    };
    check(0, head);
    for (let i = 0; i < most; i++) {
      check(-1 - i, left[i]);
      check(1 + i, right[i]);
      if (i >= left.length && i >= right.length && i > wanted.cells.size) break;
    }
  }
  return found;
}
