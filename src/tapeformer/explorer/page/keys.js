// The keyboard.

import { openBreaking } from "./breaking.js";
import { byId } from "./dom.js";
import { openEditor } from "./editor.js";
import { state } from "./state.js";
import { moveTo, play, toBoundary, toDifference, toStateChange } from "./transport.js";

const TYPING = ["INPUT", "TEXTAREA", "SELECT"];

/** @param {any} handlers */
export function setUpKeys(handlers) {
  const actions = /** @type {Record<string, () => void>} */ ({
    " ": () => play(!state.playing),
    ArrowRight: () => moveTo(state.target + 1),
    ArrowLeft: () => moveTo(state.target - 1),
    Home: () => moveTo(0, true),
    End: () => moveTo(state.run.last, true),
    Escape: () => clear(handlers),
    "?": () => byId("keys").showModal(),
    "+": () => changeSpeed(1),
    "=": () => changeSpeed(1),
    "-": () => changeSpeed(-1),
    n: () => toStateChange(1),
    p: () => toStateChange(-1),
    x: () => toDifference(),
    g: () => handlers.askForToken(),
    d: () => handlers.switchTheme(),
    b: () => handlers.chooseSide("both"),
    s: () => handlers.chooseSide(state.side === "left" ? "right" : "left"),
    a: () => handlers.chooseView(state.view === "tokens" ? "attention" : "tokens"),
    e: () => !state.source.recorded && openEditor(byId("editor").hidden),
    k: () => !state.source.recorded && openBreaking(!byId("breaking").open),
  });
  addEventListener("keydown", (event) => {
    const on = /** @type {HTMLElement} */ (event.target);
    const scrubbing = on.id === "scrubber";
    if (event.ctrlKey || event.metaKey || event.altKey || !state.run) return;
    if (document.querySelector("dialog:modal") || (TYPING.includes(on.tagName) && !scrubbing)) return;
    if (event.key === " " && on.tagName === "BUTTON") return;
    const action = actionFor(event, actions, handlers);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** @param {KeyboardEvent} event @param {Record<string, () => void>} actions @param {any} handlers */
function actionFor(event, actions, handlers) {
  if (event.shiftKey && event.key === "ArrowRight") return () => toBoundary(1);
  if (event.shiftKey && event.key === "ArrowLeft") return () => toBoundary(-1);
  if (/^[1-9]$/.test(event.key)) {
    const tape = Number(event.key);
    return tape <= state.run.machine.tapes ? () => handlers.chooseTape(tape) : null;
  }
  return actions[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
}

/** @param {any} handlers */
function clear(handlers) {
  openBreaking(false);
  byId("saving").close();
  if (!byId("editor").hidden) openEditor(false);
  else if (state.selected) handlers.select(null);
}

/** @param {number} direction */
function changeSpeed(direction) {
  const choice = byId("speed");
  const at = choice.selectedIndex + direction;
  if (at < 0 || at >= choice.options.length) return;
  choice.selectedIndex = at;
  state.speed = Number(choice.value);
}
