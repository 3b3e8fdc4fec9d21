// The tapes: heads stay in the middle and the tape slides; a bar under each cell tells its level.

import { byId, html, svg } from "./dom.js";
import { drawn, isLit, state, tapeDifferences } from "./state.js";
import { colours, levelColour } from "./theme.js";

/** @type {any} */
let handlers = {};
/** @type {any} */
let last = {};

/** @param {any} given what to do on hovering, clicking and choosing */
export function setUpTapes(given) {
  handlers = given;
}

/** The width of a cell for a number of tapes. @param {number} tapes */
function cellWidth(tapes) {
  return tapes > 4 ? 26 : tapes > 2 ? 30 : 40;
}

/** Make the rows for the tapes of a run, and the buttons that choose a stack. */
export function layTapes() {
  const tapes = state.run.machine.tapes;
  const rows = [];
  for (let tape = 1; tape <= tapes; tape++) {
    const choose = html("button", { class: "tapebutton", type: "button", onclick: () => handlers.chooseTape(tape), "data-tape": tape, title: `Look at tape ${tape} (key ${tape})` }, `tape ${tape}`);
    const picture = svg("svg", { "data-testid": `tape-${tape}`, role: "img", class: "tape" });
    rows.push(html("div", { class: "taperow" }, tapes > 1 ? choose : null, picture));
  }
  const sides = [["left", "left stack"], ["both", "both"], ["right", "right stack"]].map(([side, title]) =>
    html("button", { class: `side ${side}`, type: "button", "data-side": side, onclick: () => handlers.chooseSide(side) }, html("span", {}, title)),
  );
  const choices = html("div", { class: `sides${tapes > 1 ? " several" : ""}`, role: "group", "aria-label": "Stack" }, sides);
  byId("tapes").replaceChildren(...rows, choices);
  last = {};
}

/** Draw the tapes at the place that is shown. */
export function drawTapes() {
  const { token, part } = drawn();
  const rows = document.querySelectorAll("#tapes .tape");
  const width = cellWidth(rows.length);
  const marks = `${state.hovered?.t}@${state.hovered?.name}/${state.selected?.t}@${state.selected?.name}`;
  const key = `${state.run.id}/${token}/${marks}/${colours.dark}/${rows[0]?.clientWidth}`;
  rows.forEach((picture, index) => {
    const wide = picture.clientWidth;
    if (last[index] !== key) {
      last[index] = key;
      fillTape(picture, index + 1, token, width, wide);
    }
    const slide = picture.querySelector(".cells");
    slide?.setAttribute("transform", `translate(${(wide / 2 + shift(index, token) * (1 - part) * width).toFixed(2)} 0)`);
  });
  for (const button of document.querySelectorAll("#tapes [data-tape]")) {
    button.setAttribute("aria-pressed", String(Number(/** @type {any} */ (button).dataset.tape) === state.tape));
  }
  for (const button of document.querySelectorAll("#tapes [data-side]")) {
    const side = /** @type {any} */ (button).dataset.side;
    button.setAttribute("aria-pressed", String(side === "both" ? state.both : state.both || side === state.side));
  }
}

/** How far a head has moved in a token. @param {number} index @param {number} token */
function shift(index, token) {
  const moves = state.run.rules(token).map((/** @type {any} */ rule) => ({ L: -1, S: 0, R: 1 })[/** @type {"L"|"S"|"R"} */ (rule.moves[index])]);
  return moves.reduce((/** @type {number} */ sum, /** @type {number} */ move) => sum + move, 0);
}

/** @param {any} picture @param {number} tape @param {number} token @param {number} width @param {number} wide */
function fillTape(picture, tape, token, width, wide) {
  const height = width + 12;
  const half = Math.ceil(wide / 2 / width) + 1;
  const { left, head, right } = state.reading.tape(token, tape, half);
  const wrong = new Map((tapeDifferences(token, half) ?? []).filter((d) => d.tape === tape).map((d) => [d.place, d]));
  const cells = svg("g", { class: "cells" });
  for (let place = -half; place <= half; place++) {
    const cell = place < 0 ? left[-1 - place] : place > 0 ? right[place - 1] : head;
    cells.append(tapeCell(cell, place, width, wrong.get(place)));
  }
  const frame = svg("rect", { class: "headframe", x: wide / 2 - width / 2 - 0.5, y: 1.5, width: width + 1, height: width + 1, rx: 8 });
  const fades = ["left", "right"].map((side) => svg("rect", { class: "fade", x: side === "left" ? 0 : wide - 44, y: 0, width: 44, height, fill: `url(#fade-${side})` }));
  picture.setAttribute("height", height);
  picture.setAttribute("viewBox", `0 0 ${wide} ${height}`);
  picture.setAttribute("aria-label", spoken(tape, left, head, right));
  picture.replaceChildren(cells, frame, ...fades);
}

/** @param {any} cell @param {number} place @param {number} width @param {any} wrong */
function tapeCell(cell, place, width, wrong) {
  const text = cell && cell.id >= 0 ? state.run.texts[cell.id] : state.run.machine.blank;
  const filled = text !== state.run.machine.blank;
  const x = place * width - width / 2;
  const group = svg("g", { class: `cell${filled ? " filled" : ""}${isLit(cell) ? " lit" : ""}${wrong ? " wrong" : ""}` });
  group.append(svg("rect", { class: "box", x: x + 1.5, y: 3, width: width - 3, height: width - 3, rx: 6 }));
  if (cell && cell.level >= 0 && cell.name) {
    group.append(svg("rect", { x: x + 4, y: width + 4, width: width - 8, height: 5, rx: 2.5, fill: levelColour(cell.level) }));
  }
  if (filled) {
    const size = Math.min(width * 0.52, (width * 1.25) / Math.max(1, text.length));
    group.append(svg("text", { x: x + width / 2, y: width / 2 + 2, "font-size": size.toFixed(1), class: "symbol" }, text));
  }
  if (wrong) group.append(svg("title", {}, `should be ${wrong.expected}`));
  if (cell?.name) {
    group.addEventListener("pointerenter", (/** @type {any} */ event) => handlers.hover(cell, event));
    group.addEventListener("pointerleave", () => handlers.hover(null));
    group.addEventListener("click", () => handlers.select(cell));
  }
  return group;
}

/** What a screen reader says of a tape. @param {number} tape @param {any[]} left @param {any} head @param {any[]} right */
function spoken(tape, left, head, right) {
  const symbol = (/** @type {any} */ cell) => (cell.id < 0 ? "blank" : state.run.texts[cell.id]);
  const before = left.slice(0, 8).map(symbol).reverse().join(" ");
  const after = right.slice(0, 8).map(symbol).join(" ");
  return `Tape ${tape}: left of the head ${before || "nothing"}; under the head ${symbol(head)}; right of it ${after || "nothing"}`;
}
