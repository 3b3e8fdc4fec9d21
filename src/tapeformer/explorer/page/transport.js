// Going from token to token: steps, play, jumps; tokens that are not here are fetched first.

import { clamp } from "./dom.js";
import { state } from "./state.js";

const STEP_MS = 760;
const MOST_SEARCHED = 200;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
/** @type {any} */
let motion = null;
/** @type {any} */
let handlers = {};
let frameAsked = 0;
let timer = 0;
let wanted = 0;
/** How long the last jump took, from the wish to the picture; for tests. */
export const timings = { asked: 0, jump: 0 };

/** @param {any} given what to do for each token and each frame */
export function setUpTransport(given) {
  handlers = given;
}

/** Draw soon. */
export function schedule() {
  if (!frameAsked) frameAsked = requestAnimationFrame(frame);
}

/** @param {number} now */
function frame(now) {
  frameAsked = 0;
  if (!state.run) return;
  if (motion) {
    const part = clamp((now - motion.begun) / motion.length, 0, 1);
    const eased = part < 0.5 ? 2 * part * part : 1 - (-2 * part + 2) ** 2 / 2;
    state.position = motion.from + (motion.to - motion.from) * (state.speed > 3 ? part : eased);
    if (part >= 1) {
      state.position = motion.to;
      motion = null;
    } else schedule();
  }
  handlers.draw();
  if (timings.asked) {
    timings.jump = performance.now() - timings.asked;
    timings.asked = 0;
  }
}

/** Go to a token; `jump` leaves out the motion. @param {number} t @param {boolean} [jump] */
export async function go(t, jump = false) {
  const { run } = state;
  const mine = ++wanted;
  const asked = performance.now();
  t = clamp(Math.round(t), 0, run.last);
  if (!run.has(t)) {
    await run.fetch(t);
    if (mine !== wanted || run !== state.run || !run.has(t)) return;
  }
  const distance = Math.abs(t - state.position);
  state.target = t;
  if (jump || calm.matches || distance > 1.5 || state.speed > 20) {
    state.position = t;
    motion = null;
  } else {
    const length = state.playing ? Math.min(420, (STEP_MS / state.speed) * 0.86) : 320;
    motion = { from: state.position, to: t, begun: performance.now(), length };
  }
  timings.asked = asked;
  handlers.token();
  schedule();
  ahead(t);
}

/** Fetch what will be needed next. @param {number} t */
function ahead(t) {
  const { run } = state;
  const slice = run.sliceAt(t);
  const next = run.sliceNumber(t) + 1;
  if (slice && slice.stop - t < 600 && next < run.starts.length) run.fetchSlice(next).catch(() => {});
}

/** @param {boolean} on */
export function play(on) {
  clearTimeout(timer);
  if (on && state.target >= state.run.last) go(state.run.beginning, true);
  state.playing = on;
  handlers.playing(on);
  if (on) tick();
}

async function tick() {
  if (!state.playing) return;
  const many = state.speed > 20 ? Math.round(state.speed / 20) : 1;
  if (state.target >= state.run.last) {
    if (state.run.record.status !== "running") {
      play(false);
      return;
    }
  } else await go(state.target + many);
  if (state.playing) timer = window.setTimeout(tick, Math.max(16, STEP_MS / state.speed));
}

/** Stop playing and go. @param {number} t @param {boolean} [jump] */
export function moveTo(t, jump = false) {
  if (state.playing) play(false);
  return go(t, jump);
}

/** Find the next token, forwards or backwards, for which something holds; the end if there is none.
 * @param {number} direction @param {(t: number) => boolean} holds @returns {Promise<number | null>} */
async function search(direction, holds) {
  const { run } = state;
  let t = state.target + direction;
  for (let slices = 0; slices < MOST_SEARCHED && t >= 0 && t <= run.last; slices++) {
    if (!run.has(t)) await run.fetch(t);
    if (run !== state.run) return null;
    const slice = run.sliceAt(t);
    while (slice && t >= slice.start && t < slice.stop) {
      if (holds(t)) return t;
      t += direction;
    }
  }
  return clamp(t, 0, run.last);
}

/** @param {number} direction */
export async function toStateChange(direction) {
  const { run } = state;
  const found = await search(direction, (t) => t > 0 && run.text(t, "state") !== run.text(t - 1, "state"));
  if (found !== null) moveTo(found, true);
}

/** @param {number} direction */
export async function toBoundary(direction) {
  const found = await search(direction, (t) => state.reading.boundary(t));
  if (found !== null) moveTo(found, true);
}

/** The next token that is wrong; the first one where there is none further on. */
export async function toDifference() {
  const { run } = state;
  const first = run.record.broken?.token ?? run.record.difference;
  if (first === null || first === undefined) return false;
  const found = state.target < first ? first : await search(1, (t) => !run.agrees(t));
  if (found !== null) moveTo(found, true);
  return true;
}
