// The address tells what is shown, so that a link opens the same moment again.

import { state } from "./state.js";

let timer = 0;
let written = location.hash;
let quiet = true;

/** What the address asks for. @returns {URLSearchParams} */
export function readAddress() {
  written = location.hash;
  return new URLSearchParams(location.hash.slice(1));
}

/** From now on what the reader does is written to the address. */
export function startWriting() {
  quiet = false;
}

/** Write what is shown, soon; never while playing, and never over an address that has just come. */
export function writeAddress() {
  clearTimeout(timer);
  if (quiet || state.playing || !state.run) return;
  timer = window.setTimeout(() => {
    if (location.hash !== written) return;
    history.replaceState(null, "", `#${described()}`);
    written = location.hash;
  }, 120);
}

function described() {
  const { run } = state;
  const { options = {} } = run.record;
  const parts = new URLSearchParams({ run: run.id, machine: state.name ?? run.machine.name });
  parts.set("input", run.record.word.join(run.machine.spaced ? " " : ""));
  for (const name of ["construction", "levels", "base", "steps_per_token"]) {
    if (options[name] !== null && options[name] !== undefined) parts.set(name, options[name]);
  }
  const { broken } = run.record;
  if (broken) parts.set("broken", [broken.kind, broken.number, broken.input].join(":"));
  parts.set("t", String(state.target));
  parts.set("tape", String(state.tape));
  parts.set("side", state.both ? "both" : state.side);
  parts.set("view", state.view);
  parts.set("head", String(state.head));
  if (state.selected?.name) parts.set("cell", `${state.selected.t}@${state.selected.name}`);
  parts.set("theme", document.documentElement.dataset.theme ?? "light");
  return parts.toString();
}

/** Take over what an address says about the view; the run is there already. @param {URLSearchParams} asked */
export function applyView(asked) {
  const side = asked.get("side");
  state.both = side === "both";
  if (side === "left" || side === "right") state.side = side;
  state.tape = Math.max(1, Math.min(state.run.machine.tapes, Number(asked.get("tape")) || 1));
  state.view = asked.get("view") === "attention" ? "attention" : "tokens";
  const heads = state.run.models[state.run.models.length - 1].heads;
  const head = Number(asked.get("head") ?? heads[0]?.number ?? 0);
  state.head = heads.some((/** @type {any} */ h) => h.number === head) ? head : (heads[0]?.number ?? 0);
  const cell = asked.get("cell")?.match(/^(\d+)@(.+)$/);
  state.selected = null;
  if (cell) {
    const level = Number(cell[2].match(/(?:main|delay|L|R|B)(\d+)/)?.[1] ?? 0);
    state.selected = { t: Number(cell[1]), name: cell[2], level, track: 0 };
  }
}
