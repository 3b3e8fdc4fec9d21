// Drawing on a canvas, or on anything that has its methods.

import { state } from "./state.js";
import { colours, faded, inkOn, levelColour } from "./theme.js";
import { shown, toneOf } from "./state.js";

/** A canvas as large as its place in the page, cleared. @param {any} canvas */
export function fitted(canvas) {
  const box = canvas.getBoundingClientRect();
  const density = Math.max(1, devicePixelRatio || 1);
  const width = Math.round(box.width * density);
  const height = Math.round(box.height * density);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const g = canvas.getContext("2d");
  g.setTransform(density, 0, 0, density, 0, 0);
  g.clearRect(0, 0, box.width, box.height);
  return { g, width: box.width, height: box.height };
}

/** Write text. @param {any} g @param {string} text @param {number} x @param {number} y
 * @param {number} size @param {string} colour @param {any} [style] */
export function write(g, text, x, y, size, colour, style = {}) {
  const { weight = 500, mono = false, align = "center" } = style;
  g.font = `${weight} ${size}px ${mono ? colours.mono : colours.font}`;
  g.fillStyle = colour;
  g.textAlign = align;
  g.textBaseline = "middle";
  g.fillText(text, x, y);
}

/** @param {any} g @param {number} x @param {number} y @param {number} width @param {number} height @param {number} radius */
export function roundedBox(g, x, y, width, height, radius) {
  g.beginPath();
  g.roundRect(x, y, Math.max(0, width), Math.max(0, height), radius);
}

/** A triangle that points down, at its tip. @param {any} g @param {number} x @param {number} y @param {number} size @param {string} colour */
export function pointer(g, x, y, size, colour) {
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x - size, y - size * 1.3);
  g.lineTo(x + size, y - size * 1.3);
  g.closePath();
  g.fillStyle = colour;
  g.fill();
}

/** The number of a level in a disc of its colour, or an empty disc where it has not started.
 * @param {any} g @param {number} x @param {number} y @param {number} level @param {boolean} on @param {number} [radius] */
export function levelDisc(g, x, y, level, on, radius = 8.5) {
  const colour = levelColour(level);
  g.beginPath();
  g.arc(x, y, radius, 0, 2 * Math.PI);
  g.fillStyle = on ? colour : colours.panel;
  g.fill();
  g.lineWidth = 1.5;
  g.strokeStyle = on ? colours.panel : colours.line2;
  g.stroke();
  write(g, String(level), x, y + 0.5, radius * 1.3, on ? inkOn(colour) : colours.ink3, { weight: 700 });
}

/** The colour of a cell, or null where it holds nothing. @param {number} id @param {number} level */
export function cellColour(id, level) {
  if (id < 0 || id === state.reading.dummy) return null;
  if (id === state.reading.bottom) return colours.ink3;
  return faded(levelColour(Math.max(0, level)), toneOf(id));
}

/** The colour of the letter in a cell. @param {number} id @param {number} level */
export function letterColour(id, level) {
  if (id === state.reading.bottom) return colours.panel;
  return inkOn(levelColour(Math.max(0, level)), toneOf(id));
}

/** A cell with its letter where there is room for it.
 * @param {any} g @param {any} box @param {any} cell @param {any} style */
export function drawCell(g, box, cell, style) {
  const { radius = 3, lit = false, size = 0 } = style;
  const fill = cellColour(cell.id, cell.level);
  roundedBox(g, box.x, box.y, box.width, box.height, radius);
  g.fillStyle = fill ?? colours.track;
  g.fill();
  if (lit) {
    g.lineWidth = 2;
    g.strokeStyle = colours.now;
    g.stroke();
  }
  const letters = shown(cell.id);
  if (fill && size && letters.length * size * 0.62 <= box.width + 1) {
    const colour = letterColour(cell.id, cell.level);
    write(g, letters, box.x + box.width / 2, box.y + box.height / 2 + 0.5, size, colour, { weight: 650, mono: true });
  }
}
