// The canvases: drawn together, and what the pointer does on them.

import { drawAttention } from "./attention_view.js";
import { fitted } from "./canvas.js";
import { byId, grouped } from "./dom.js";
import { drawRings, ringCellAt } from "./rings_view.js";
import { sameCell, shown, state } from "./state.js";
import { drawStrip, stripCellAt } from "./strip_view.js";
import { drawTimeline } from "./timeline_view.js";
import { moveTo, schedule } from "./transport.js";

/** The pictures by name, each drawn on anything that has a canvas's methods. */
export const pictures = /** @type {Record<string, any>} */ ({
  rings: drawRings, strip: drawStrip, attention: drawAttention, timeline: drawTimeline,
});

/** Draw every canvas that is visible. */
export function drawPictures() {
  for (const [name, paint] of Object.entries(pictures)) {
    const canvas = byId(`${name}-canvas`);
    if (!canvas.offsetParent) continue;
    const { g, width, height } = fitted(canvas);
    paint(g, width, height);
  }
}

/** @param {any} handlers @returns {(cell: any, event?: any) => void} what to do when a cell is pointed at */
export function setUpPictures(handlers) {
  follow("rings-canvas", ringCellAt, handlers);
  follow("strip-canvas", stripCellAt, handlers);
  return hover;
}

/** @param {string} id @param {(x: number, y: number) => any} cellAt @param {any} handlers */
function follow(id, cellAt, handlers) {
  const canvas = byId(id);
  const found = (/** @type {PointerEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return state.run ? cellAt(event.clientX - box.left, event.clientY - box.top) : null;
  };
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const cell = found(event);
    canvas.classList.toggle("pointing", Boolean(cell));
    hover(cell?.name && cell.t >= 0 ? cell : null, event);
  });
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("click", (/** @type {PointerEvent} */ event) => {
    const cell = found(event);
    if (!cell) return;
    if (cell.name) {
      if (cell.t >= 0) handlers.select(cell);
    } else if (cell.head !== undefined) {
      state.head = cell.head;
      handlers.select({ head: cell.head, t: cell.t, name: "" });
    } else moveTo(cell.t, true);
  });
}

/** @param {any} cell @param {any} [event] */
function hover(cell, event) {
  if (!sameCell(cell, state.hovered)) schedule();
  state.hovered = cell;
  const tip = byId("tip");
  tip.hidden = !cell;
  if (!cell || !event) return;
  const level = cell.level >= 0 ? `level ${cell.level} · ` : "";
  tip.textContent = `${shown(cell.id) || "empty"} · ${level}token ${grouped(state.run.label(cell.t))} · ${cell.name}`;
  const x = Math.max(6, Math.min(innerWidth - tip.offsetWidth - 6, event.clientX - tip.offsetWidth / 2));
  tip.style.left = `${x}px`;
  tip.style.top = `${Math.min(innerHeight - 34, event.clientY + 18)}px`;
}
