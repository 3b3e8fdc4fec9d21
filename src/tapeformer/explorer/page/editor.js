// The machine's text: an editor with colours and faults at their lines, the gallery, and options.

import { byId, html, setText } from "./dom.js";
import { state } from "./state.js";

const WAIT = 250;
const MOST_FILE = 1 << 20;
/** @type {any} */
let handlers = {};
let timer = 0;
/** @type {any[]} */
let faults = [];
let name = "";

/** @param {any} given @param {string[]} options */
export function setUpEditor(given, options) {
  handlers = given;
  byId("text").oninput = changed;
  byId("text").onscroll = follow;
  byId("text").onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    if (event.key === "Escape") openEditor(false);
  };
  byId("machine-form").onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  };
  byId("close-editor").onclick = () => openEditor(false);
  byId("file").onchange = () => takeFile(byId("file").files[0]);
  byId("steps-option").hidden = !options.includes("steps_per_token");
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer?.files.length) takeFile(event.dataTransfer.files[0]);
  });
}

/** Offer the machines of the gallery. @param {any[]} gallery */
export function layGallery(gallery) {
  byId("gallery").replaceChildren(
    html("option", { value: "" }, "choose a machine …"),
    ...gallery.map((entry) => html("option", { value: entry.name, title: entry.description }, entry.name)),
  );
  byId("gallery").onchange = () => fromGallery(byId("gallery").value, gallery);
  if (gallery.some((entry) => entry.name === state.name)) byId("gallery").value = state.name;
}

/** @param {string} chosen @param {any[]} gallery */
async function fromGallery(chosen, gallery) {
  if (!chosen) return;
  const { text } = await state.source.json(`gallery/${chosen}`);
  setMachine(text, chosen, gallery.find((entry) => entry.name === chosen)?.word ?? "");
  submit();
}

/** @param {File | undefined} file */
async function takeFile(file) {
  if (!file) return;
  openEditor(true);
  if (file.size > MOST_FILE) {
    showFaults([{ what: "the file is too large for the page", line: null, expected: "at most 1 MB", got: "", remedy: "use `tapeformer run`" }]);
    return;
  }
  setMachine(await file.text(), file.name, null);
  check();
}

/** Show a machine's text. @param {string} text @param {string} from @param {string | null} word */
export function setMachine(text, from, word) {
  name = from;
  byId("text").value = text;
  byId("text").setSelectionRange(0, 0);
  if (word !== null) byId("word").value = word;
  faults = [];
  paint();
}

/** Show what a run was made from. @param {any} run */
export function showMachineOf(run) {
  const word = run.record.word.join(run.machine.spaced ? " " : "");
  setMachine(run.machine.text, state.name ?? run.machine.name, word);
  const { construction, levels, base } = run.record.options ?? {};
  byId("construction").value = construction ?? "realtime";
  byId("levels").value = levels ?? "";
  byId("base").value = base ?? "";
  byId("steps").value = (run.record.options?.steps_per_token ?? 1) > 1 ? run.record.options.steps_per_token : "";
  byId("gallery").value = [...byId("gallery").options].some((o) => o.value === state.name) ? state.name : "";
}

/** @param {boolean} open */
export function openEditor(open) {
  byId("editor").hidden = !open;
  byId("edit").setAttribute("aria-expanded", String(open));
  if (open) {
    byId("text").focus();
    paint();
  } else byId("edit").focus();
}

/** Bring a line into view. @param {number} line */
export function showLine(line) {
  openEditor(true);
  const text = byId("text");
  const rows = text.value.split("\n");
  const start = rows.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.setSelectionRange(start, start + (rows[line - 1]?.length ?? 0));
  text.scrollTop = Math.max(0, (line - 6) * 20);
  follow();
}

function changed() {
  name = name || "machine";
  state.name = null;
  paint();
  clearTimeout(timer);
  timer = window.setTimeout(check, WAIT);
}

async function check() {
  const text = byId("text").value;
  try {
    const told = await state.source.json("check", { text });
    if (text !== byId("text").value) return;
    showFaults(told.faults);
    const errors = told.faults.filter((/** @type {any} */ fault) => fault.severity === "error");
    const told_format = told.format ? `Format: ${told.format}. ` : "";
    setText(byId("format"), errors.length ? `${told_format}` : `${told_format}No faults.`);
  } catch (error) {
    showFaults(/** @type {any} */ (error).faults ?? []);
  }
}

/** @param {any[]} found */
export function showFaults(found) {
  faults = found;
  byId("faults").replaceChildren(...found.slice(0, 20).map(faultItem));
  paint();
}

/** @param {any} fault */
function faultItem(fault) {
  const more = [fault.expected && `expected ${fault.expected}`, fault.got && `got ${fault.got}`, fault.remedy].filter(Boolean).join("; ");
  const where = fault.line ? html("button", { class: "link line", type: "button", onclick: () => showLine(fault.line) }, `line ${fault.line}`) : null;
  return html("li", { class: fault.severity ?? "error", "data-line": fault.line ?? "" }, where, where ? ": " : "", html("b", {}, fault.what), more ? ` – ${more}` : "");
}

async function submit() {
  const choice = (/** @type {string} */ id) => (byId(id).value === "" ? null : Number(byId(id).value));
  const given = {
    text: byId("text").value, name, word: byId("word").value, construction: byId("construction").value,
    levels: choice("levels"), base: choice("base"), steps_per_token: byId("steps-option").hidden ? null : choice("steps"),
  };
  if (await handlers.run(given, name)) openEditor(false);
}

function follow() {
  byId("paint").scrollTop = byId("text").scrollTop;
  byId("paint").scrollLeft = byId("text").scrollLeft;
}

/** Paint the text behind the editor: numbers, colours, faulty lines. */
function paint() {
  const bad = new Map(faults.filter((fault) => fault.line).map((fault) => [fault.line, fault.severity ?? "error"]));
  const now = state.run ? state.run.rule(state.target)?.line : 0;
  const rows = byId("text").value.split("\n").slice(0, 4000);
  byId("paint").replaceChildren(...rows.map((/** @type {string} */ row, /** @type {number} */ i) =>
    html("div", { class: `row ${bad.get(i + 1) ?? ""}${now === i + 1 && !faults.length ? " now" : ""}` }, html("i", {}, String(i + 1)), ...coloured(row), "\n"),
  ));
  follow();
}

const PARTS = /(#.*$|;.*$|\/\/.*$)|('[^']*'|"[^"]*")|([\w-]+(?=\s*:))|\b([LRS])\b|(-?\b\d+\b)/g;
const CLASSES = ["comment", "string", "key", "move", "number"];

/** @param {string} row @returns {any[]} */
function coloured(row) {
  const parts = [];
  let end = 0;
  for (const found of row.matchAll(PARTS)) {
    const at = found.index ?? 0;
    parts.push(row.slice(end, at));
    const kind = CLASSES[found.slice(1).findIndex((part) => part !== undefined)];
    parts.push(html("span", { class: kind }, found[0]));
    end = at + found[0].length;
  }
  parts.push(row.slice(end));
  return parts;
}
