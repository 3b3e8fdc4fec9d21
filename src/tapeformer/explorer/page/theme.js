// Colours: one for each level everywhere, tone for symbols, red for what happens now.

export const LEVEL_COLOURS = 8;
const NAMES = ["bg", "panel", "ink", "ink2", "ink3", "line", "line2", "track", "now", "ok", "bad"];

/** The colours of the theme, read once for each change. @type {any} */
export const colours = { levels: [], dark: false };

/** Take over the colours of the style sheet. */
export function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) colours[name] = style.getPropertyValue(`--${name}`).trim();
  colours.levels = [];
  for (let i = 0; i < LEVEL_COLOURS; i++) {
    colours.levels.push(style.getPropertyValue(`--L${i}`).trim());
  }
  colours.font = style.getPropertyValue("--font").trim();
  colours.mono = style.getPropertyValue("--mono").trim();
  colours.dark = document.documentElement.dataset.theme === "dark";
}

/** @param {number} level */
export function levelColour(level) {
  return colours.levels[level % LEVEL_COLOURS];
}

/** @param {string} theme */
export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  readColours();
}

/** @param {string} hex @returns {number[]} */
function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** @param {number[]} rgb */
function luminance(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever reads better on a colour laid over the panel.
 * @param {string} hex @param {number} [alpha] */
export function inkOn(hex, alpha = 1) {
  const under = channels(colours.panel);
  const mixed = channels(hex).map((value, i) => value * alpha + under[i] * (1 - alpha));
  const light = luminance(mixed);
  return (light + 0.05) / 0.058 > (1.05 / (light + 0.05)) * 1.12 ? "#10141a" : "#ffffff";
}

/** A colour with an opacity. @param {string} hex @param {number} alpha */
export function faded(hex, alpha) {
  return hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
}
