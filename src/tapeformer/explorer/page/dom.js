// Making elements: everything is text or an attribute, never markup from data.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Make an HTML element; children are elements or text.
 * @param {string} kind @param {Record<string, any>} [attributes] @param {...any} children
 * @returns {any}
 */
export function html(kind, attributes = {}, ...children) {
  return filled(document.createElement(kind), attributes, children);
}

/**
 * Make an SVG element.
 * @param {string} kind @param {Record<string, any>} [attributes] @param {...any} children
 * @returns {any}
 */
export function svg(kind, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_SPACE, kind), attributes, children);
}

/** @param {any} element @param {Record<string, any>} attributes @param {any[]} children */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Write text into an element only where it differs, so that nothing is laid out in vain.
 * @param {any} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {number} value @param {number} low @param {number} high */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/** A number with separators, as it is shown in sentences. @param {number} value */
export function grouped(value) {
  return value.toLocaleString("en-US");
}

/** @param {number} count @param {string} unit */
export function counted(count, unit) {
  return `${grouped(count)} ${unit}${count === 1 ? "" : "s"}`;
}
