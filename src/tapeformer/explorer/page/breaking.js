// Break it: switch off a head, flip a weight, cut the window, take bits away, and see where it goes wrong.

import { byId, counted, grouped, html } from "./dom.js";
import { state } from "./state.js";

/** @type {any} */
let handlers = {};

/** @param {any} given */
export function setUpBreaking(given) {
  handlers = given;
  byId("break").onclick = () => openBreaking(!byId("breaking").open);
  byId("close-breaking").onclick = () => openBreaking(false);
  byId("break-window").oninput = describeWindow;
  byId("break-window-go").onclick = () => ask("window", windowOf());
  byId("break-bits").oninput = describeBits;
  byId("break-bits-go").onclick = () => ask("precision", Number(byId("break-bits").value));
  byId("break-weight-go").onclick = () => ask("weight", randomNeuron());
  byId("mend").onclick = () => handlers.mend();
}

/** @param {boolean} open */
export function openBreaking(open) {
  const dialog = byId("breaking");
  if (open && !dialog.open) {
    byId("saving").close();
    layHeadSwitches();
    describeWindow();
    describeBits();
    dialog.show();
  } else if (!open && dialog.open) dialog.close();
}

/** @param {string} kind @param {number} number */
function ask(kind, number) {
  handlers.breakIt({ kind, number, input: 0 });
}

function lastModel() {
  return state.run.models[state.run.models.length - 1];
}

function layHeadSwitches() {
  const heads = lastModel().heads;
  byId("break-heads").replaceChildren(
    ...heads.map((/** @type {any} */ head) =>
      html("button", { type: "button", "data-head": head.number, onclick: () => ask("head", head.number) }, `head ${head.number}: ${head.back} back`),
    ),
  );
}

/** The slider is in halvings of the window. */
function windowOf() {
  const { window } = lastModel();
  return Math.max(1, Math.floor(window / 2 ** Number(byId("break-window").value)));
}

function describeWindow() {
  byId("break-window-text").textContent = `${grouped(windowOf())} of ${counted(lastModel().window, "token")}`;
}

function describeBits() {
  const bits = Number(byId("break-bits").value);
  const known = /** @type {Record<number, string>} */ ({ 8: " (bfloat16)", 11: " (float16)", 3: "", 4: " (float8)" });
  byId("break-bits-text").textContent = `${counted(bits, "significant bit")}${known[bits] ?? ""}`;
}

/** A neuron anywhere in the network; another one each time. */
function randomNeuron() {
  return Math.floor(Math.random() * lastModel().neurons);
}

/** A value in words. @param {string} value */
function named(value) {
  const { texts } = state.run;
  if (value === texts[state.reading.dummy]) return "empty";
  return value === texts[state.reading.bottom] ? "⊥" : value === state.run.machine.blank ? "blank" : value;
}

/** Say what is broken and which token is wrong first. */
export function drawBreaking() {
  const { broken, status } = state.run.record;
  byId("broken").hidden = !broken;
  if (!broken) return;
  const found = broken.token !== null && broken.token !== undefined;
  const fields = broken.fields.slice(0, 2).map((/** @type {string[]} */ entry) => `${entry[0]} is ${named(entry[2])}, should be ${named(entry[1])}`);
  const more = broken.count > 2 ? ` and ${broken.count - 2} more` : "";
  const compared = status === "running" ? "No wrong token so far." : `No wrong token: all ${counted(state.run.label(state.run.last), "token")} are right.`;
  const unneeded = status === "running" ? "" : " This run does not need what was taken away; a longer input may.";
  const text = found
    ? [html("b", {}, `First wrong token: ${grouped(state.run.label(broken.token))}`), fields.length ? ` (${fields.join("; ")}${more})` : " (the run ends elsewhere)"]
    : [html("b", {}, compared), unneeded];
  byId("broken-text").replaceChildren(`Broken: ${broken.what}. `, ...text);
  byId("broken-go").hidden = !found;
  byId("broken-go").onclick = () => handlers.goTo(broken.token);
}
