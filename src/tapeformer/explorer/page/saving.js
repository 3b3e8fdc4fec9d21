// Saving: the run as one page, a view as SVG or PNG.

import { byId } from "./dom.js";
import { pictures } from "./pictures.js";
import { state } from "./state.js";
import { SvgContext } from "./svg_context.js";
import { colours } from "./theme.js";

/** Answer the buttons of the dialog. */
export function setUpSaving() {
  const dialog = byId("saving");
  byId("save").onclick = () => {
    byId("breaking").close();
    if (dialog.open) dialog.close();
    else dialog.show();
  };
  byId("close-saving").onclick = () => dialog.close();
  byId("save-page").onclick = async () => {
    const answer = await state.source.ask(`runs/${state.run.id}/export`);
    keep(await answer.blob(), "html");
  };
  byId("save-svg").onclick = () => keep(new Blob([svgOf(byId("save-view").value)], { type: "image/svg+xml" }), "svg");
  byId("save-png").onclick = async () => keep(await pngOf(byId("save-view").value), "png");
}

/** @param {Blob} content @param {string} ending */
function keep(content, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = `${state.run.machine.name}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A view as the text of an SVG file. @param {string} name */
export function svgOf(name) {
  const { width, height } = sizeOf(name);
  const context = new SvgContext(width, height, colours.panel);
  pictures[name](context, width, height);
  return context.text();
}

/** @param {string} name @returns {Promise<Blob>} */
function pngOf(name) {
  const { width, height } = sizeOf(name);
  const canvas = document.createElement("canvas");
  canvas.width = 3 * width;
  canvas.height = 3 * height;
  const g = /** @type {any} */ (canvas.getContext("2d"));
  g.scale(3, 3);
  g.fillStyle = colours.panel;
  g.fillRect(0, 0, width, height);
  pictures[name](g, width, height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(/** @type {Blob} */ (blob)), "image/png"));
}

/** @param {string} name */
function sizeOf(name) {
  const box = byId(name === "rings" ? "rings" : "strip").getBoundingClientRect();
  return { width: Math.round(box.width), height: Math.round(box.height) };
}
