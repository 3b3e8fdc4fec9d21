// A canvas's methods, as far as the views use them, that write SVG instead.

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter] ?? "");
}

/** @param {number} value */
function short(value) {
  return String(Math.round(value * 100) / 100);
}

/** Collects shapes in the order in which they are drawn. */
export class SvgContext {
  /** @param {number} width @param {number} height @param {string} background */
  constructor(width, height, background) {
    this.width = width;
    this.height = height;
    /** @type {string[]} */
    this.shapes = [`<rect width="${width}" height="${height}" fill="${background}"/>`];
    this.path = "";
    this.clips = 0;
    this.open = 0;
    this.dash = "";
    this.fillStyle = this.strokeStyle = "#000000";
    this.lineWidth = this.globalAlpha = 1;
    this.lineCap = "butt";
    this.font = "12px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "middle";
  }

  text() {
    const closing = "</g>".repeat(this.open);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}">\n${this.shapes.join("\n")}${closing}\n</svg>\n`;
  }

  beginPath() {
    this.path = "";
  }

  closePath() {
    this.path += "Z";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `L${short(x)} ${short(y)}`;
  }

  /** @param {number} a @param {number} b @param {number} c @param {number} d @param {number} x @param {number} y */
  bezierCurveTo(a, b, c, d, x, y) {
    this.path += `C${[a, b, c, d, x, y].map(short).join(" ")}`;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} radius */
  roundRect(x, y, width, height, radius) {
    const r = Math.max(0, Math.min(radius, width / 2, height / 2));
    const turn = (/** @type {number} */ dx, /** @type {number} */ dy) => `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
    this.path += `M${short(x + r)} ${short(y)}h${short(width - 2 * r)}${turn(r, r)}v${short(height - 2 * r)}${turn(-r, r)}h${short(2 * r - width)}${turn(-r, -r)}v${short(2 * r - height)}${turn(r, -r)}Z`;
  }

  /** @param {number} x @param {number} y @param {number} radius @param {number} from @param {number} to */
  arc(x, y, radius, from, to) {
    const span = Math.min(to - from, 2 * Math.PI);
    const at = (/** @type {number} */ angle) => `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`;
    const middle = from + span / 2;
    this.path += `${this.path && !this.path.endsWith("Z") ? "L" : "M"}${at(from)}`;
    for (const end of [middle, from + span]) this.path += `A${short(radius)} ${short(radius)} 0 0 1 ${at(end)}`;
  }

  fill() {
    if (this.fillStyle !== "transparent") this.shapes.push(`<path d="${this.path}" fill="${this.fillStyle}"${this.alpha()}/>`);
  }

  stroke() {
    const cap = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
    const dash = this.dash ? ` stroke-dasharray="${this.dash}"` : "";
    this.shapes.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}"${cap}${dash}${this.alpha()}/>`);
  }

  alpha() {
    return this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.beginPath();
    this.rect(x, y, width, height);
    this.fill();
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.beginPath();
    this.rect(x, y, width, height);
    this.stroke();
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    if (!text) return;
    const [, weight, size, family] = this.font.match(/^(\d+) ([\d.]+)px (.*)$/) ?? ["", "500", "12", "sans-serif"];
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    this.shapes.push(`<text x="${short(x)}" y="${short(y)}" font-family="${escaped(family)}" font-size="${size}" font-weight="${weight}" fill="${this.fillStyle}" text-anchor="${anchor}" dominant-baseline="central"${this.alpha()}>${escaped(text)}</text>`);
  }

  /** @param {number[]} pattern */
  setLineDash(pattern) {
    this.dash = pattern.join(" ");
  }

  save() {}

  clip() {
    this.clips += 1;
    this.open += 1;
    this.shapes.push(`<clipPath id="clip${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
  }

  restore() {
    if (!this.open) return;
    this.open -= 1;
    this.shapes.push("</g>");
  }
}
