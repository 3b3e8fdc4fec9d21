// The page: finds its run, keeps every view in step with the token that is shown, answers keys and clicks.

import { applyView, readAddress, startWriting, writeAddress } from "./address.js";
import { layHeads, loadAttention } from "./attention_view.js";
import { drawBreaking, openBreaking, setUpBreaking } from "./breaking.js";
import { drawDiagram } from "./diagram_view.js";
import { byId, grouped, html, setText } from "./dom.js";
import { layGallery, openEditor, setUpEditor, showFaults, showLine, showMachineOf } from "./editor.js";
import { drawExplain, setUpExplain } from "./explain_view.js";
import { setUpKeys } from "./keys.js";
import { drawPictures, pictures, setUpPictures } from "./pictures.js";
import { Run } from "./run.js";
import { setUpSaving, svgOf } from "./saving.js";
import { findSource } from "./source.js";
import { sameCell, state, takeRun } from "./state.js";
import { drawAgreement, showFaultPage, showNotice, speakToken } from "./status.js";
import { drawTapes, layTapes, setUpTapes } from "./tapes_view.js";
import { setTheme } from "./theme.js";
import { go, moveTo, play, schedule, setUpTransport, timings } from "./transport.js";

const POLL = 250;
const PATIENCE = 2000;
let watching = 0;

function draw() {
  drawTapes();
  drawPictures();
}

/** All that changes with the token, and not in between. */
function showToken() {
  const { run, target: t } = state;
  byId("scrubber").max = String(run.last);
  byId("scrubber").value = String(t);
  byId("scrubber").setAttribute("aria-valuetext", `token ${run.label(t)}, step ${run.steps(t)}`);
  setText(byId("step"), String(run.steps(t)));
  setText(byId("token"), String(run.label(t)));
  setText(byId("of"), ` of ${grouped(run.label(run.last))}${run.record.status === "running" ? " …" : ""}`);
  setText(byId("state"), t < run.prompt ? run.machine.start : run.text(t, "state"));
  setText(byId("outcome"), run.record.outcome ?? "running");
  drawAgreement(t);
  drawDiagram(t);
  drawExplain(t);
  drawBreaking();
  showView();
  document.body.dataset.token = String(t);
  if (!state.playing) speakToken(t);
  if (!state.playing) setText(byId("live"), `Token ${run.label(t)}, step ${run.steps(t)}, state ${byId("state").textContent}`);
  writeAddress();
}

/** The view at the bottom: tokens or attention. */
function showView() {
  const attention = state.view === "attention";
  byId("strip-canvas").hidden = attention;
  byId("attention").hidden = !attention;
  for (const tab of document.querySelectorAll("[data-view]")) {
    tab.setAttribute("aria-selected", String(/** @type {any} */ (tab).dataset.view === state.view));
  }
  if (!attention) return;
  layHeads((number) => chooseHead(number), state.target);
  loadAttention(state.target, () => {
    layHeads((number) => chooseHead(number), state.target);
    schedule();
  });
}

/** @param {number} number */
function chooseHead(number) {
  state.head = number;
  refresh();
}

function refresh() {
  showToken();
  schedule();
}

/** @param {any} cell */
function select(cell) {
  state.selected = sameCell(cell, state.selected) ? null : cell;
  refresh();
}

/** @param {string} view */
function chooseView(view) {
  state.view = view;
  refresh();
}

/** @param {string} side */
function chooseSide(side) {
  if (side === "both") state.both = !state.both;
  else {
    state.both = false;
    state.side = side;
  }
  refresh();
}

/** @param {number} tape */
function chooseTape(tape) {
  state.tape = tape;
  refresh();
}

function switchTheme() {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  refresh();
}

/** Show a run, once its first tokens are there. @param {string} id @param {URLSearchParams} [asked] */
async function openRun(id, asked = new URLSearchParams()) {
  clearTimeout(watching);
  const record = await begun(id);
  if (!record) return false;
  takeRun(new Run(state.source, id, record));
  if (!record.broken) state.sound = id;
  showFaultPage(null);
  applyView(asked);
  setText(byId("machine-name"), record.machine.name);
  setText(byId("machine-word"), record.word.join(record.machine.spaced ? " " : "") || "empty input");
  document.title = `${record.machine.name} – tapeformer explorer`;
  layTapes();
  const at = placeAsked(asked) ?? record.broken?.token ?? state.run.beginning;
  while (at > state.run.last && state.run.record.status === "running") await update();
  await go(at, true);
  showMachineOf(state.run);
  watch();
  return true;
}

/** The place that an address asks for: counted from the prompt, or a generated token by its number. @param {URLSearchParams} asked */
function placeAsked(asked) {
  if (asked.get("t")) return Number(asked.get("t"));
  return asked.get("number") ? Number(asked.get("number")) + state.run.prompt - 1 : null;
}

/** Wait until a run has tokens; faults are shown instead. @param {string} id */
async function begun(id) {
  const late = Date.now() + PATIENCE;
  for (;;) {
    const record = await state.source.describe(id, 0);
    if (record.status === "fault") {
      showNotice(null);
      showFaultPage(record);
      showFaults(record.faults);
      return null;
    }
    const told = record.broken ? record.broken.token !== null : record.boot !== null;
    if (record.status === "done" || (record.status === "running" && (told || Date.now() > late))) return record;
    showNotice(record);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
}

async function update() {
  const { run } = state;
  await new Promise((resolve) => setTimeout(resolve, POLL));
  const record = await state.source.describe(run.id, run.models.length);
  if (run === state.run) run.update(record);
}

/** Follow a run while it is recorded. */
async function watch() {
  const { run } = state;
  showNotice(run.record, resume);
  showToken();
  schedule();
  if (run.record.status !== "running") return;
  watching = window.setTimeout(async () => {
    await update().catch(() => {});
    if (run === state.run) watch();
  }, 0);
}

async function resume() {
  await state.source.json(`runs/${state.run.id}/resume`, {});
  state.run.record.status = "running";
  watch();
}

/** Begin a run of what the editor holds. @param {any} given @param {string} name */
async function runMachine(given, name) {
  try {
    const { run } = await state.source.json("runs", given);
    state.name = name;
    const opened = await openRun(run);
    if (opened) startWriting();
    return opened;
  } catch (error) {
    showFaults(/** @type {any} */ (error).faults ?? [{ what: String(error) }]);
    return false;
  }
}

/** @param {any} asked */
async function breakIt(asked) {
  try {
    const { run } = await state.source.json(`runs/${state.sound}/break`, asked);
    openBreaking(false);
    await openRun(run, currentView());
    startWriting();
    refresh();
  } catch (error) {
    showNotice({ status: "refused", what: /** @type {any} */ (error).message });
  }
}

/** What is looked at, for the next run. */
function currentView() {
  const view = new URLSearchParams({ tape: String(state.tape), side: state.both ? "both" : state.side, view: state.view });
  view.set("head", String(state.head));
  return view;
}

async function mend() {
  const view = currentView();
  view.set("t", String(state.target));
  await openRun(state.sound, view);
  refresh();
}

/** Open what the address asks for: a run that is there, or one that is begun for it. @param {any} start */
async function openAddress(start) {
  const asked = readAddress();
  if (asked.get("theme")) setTheme(asked.get("theme") === "dark" ? "dark" : "light");
  const known = asked.get("run");
  if (known && state.run?.id === known) {
    applyView(asked);
    await go(Number(asked.get("t") ?? state.target), true);
    return;
  }
  const there = known ? await state.source.describe(known, 0).then(() => true, () => false) : false;
  state.name = asked.get("machine");
  if (known && there && !state.source.recorded) await openRun(known, asked);
  else if (!asked.get("machine") || state.source.recorded || !(await beginAddress(asked))) await openRun(start.run, asked);
}

/** Begin a run of a machine of the gallery; false where there is none of this name. @param {URLSearchParams} asked */
async function beginAddress(asked) {
  const number = (/** @type {string} */ key) => (asked.get(key) ? Number(asked.get(key)) : null);
  const given = { gallery: asked.get("machine"), word: asked.get("input") ?? "", construction: asked.get("construction"), levels: number("levels"), base: number("base"), steps_per_token: number("steps_per_token") };
  const { run } = await state.source.json("runs", given).catch(() => ({}));
  if (!run) return false;
  const [kind, which, input] = (asked.get("broken") ?? "").split(":");
  if (!kind) return openRun(run, asked);
  await openRun(run, new URLSearchParams());
  const broken = await state.source.json(`runs/${run}/break`, { kind, number: Number(which), input: Number(input) });
  return openRun(broken.run, asked);
}

function setUpButtons() {
  byId("first").onclick = () => moveTo(0, true);
  byId("last").onclick = () => moveTo(state.run.last, true);
  byId("previous").onclick = () => moveTo(state.target - 1);
  byId("next").onclick = () => moveTo(state.target + 1);
  byId("play").onclick = () => play(!state.playing);
  byId("scrubber").oninput = () => moveTo(Number(byId("scrubber").value), true);
  byId("speed").onchange = () => {
    state.speed = Number(byId("speed").value);
    byId("speed").blur();
  };
  byId("theme").onclick = switchTheme;
  byId("help").onclick = () => byId("keys").showModal();
  byId("edit").onclick = () => openEditor(byId("editor").hidden);
  byId("jump").onclick = askForToken;
  byId("jumping").onclose = () => {
    if (byId("jumping").returnValue === "go") moveTo(Number(byId("jump-number").value) + state.run.prompt - 1, true);
  };
  for (const tab of document.querySelectorAll("[data-view]")) {
    tab.addEventListener("click", () => chooseView(/** @type {any} */ (tab).dataset.view));
  }
}

function askForToken() {
  byId("jump-number").value = String(state.run.label(state.target));
  byId("jump-number").max = String(state.run.label(state.run.last));
  byId("jumping").returnValue = "";
  byId("jumping").showModal();
  byId("jump-number").select();
}

/** @param {boolean} on */
function showPlaying(on) {
  byId("play-icon").setAttribute("d", on ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l10 6-10 6z");
  byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
  if (!on) writeAddress();
}

/** Put the SVG of a view in the place of the page, for a browser that only prints it. @param {string | null} name */
function showAsPicture(name) {
  if (!name || !(name in pictures)) return;
  document.body.replaceChildren(html("pre", { id: "picture" }, svgOf(name)));
}

async function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "dark" : "light");
  state.source = findSource();
  setUpTransport({ draw, token: showToken, playing: showPlaying });
  setUpTapes({ chooseTape, chooseSide, select, hover: setUpPictures({ select, refresh }) });
  setUpExplain({ select, breakIt, showLine, showAttention: (/** @type {number} */ n) => { state.head = n; chooseView("attention"); } });
  setUpBreaking({ breakIt, mend, goTo: (/** @type {number} */ t) => moveTo(t, true) });
  setUpSaving();
  setUpButtons();
  setUpKeys({ chooseTape, chooseSide, chooseView, select, switchTheme, askForToken });
  const told = await state.source.start();
  setUpEditor({ run: runMachine }, told.options);
  for (const id of ["edit", "break", "save"]) if (state.source.recorded) byId(id).disabled = true;
  for (const id of ["break", "save"]) byId(id).hidden = state.source.recorded;
  await openAddress(told);
  startWriting();
  addEventListener("hashchange", () => openAddress(told));
  addEventListener("resize", () => state.run && refresh());
  showAsPicture(readAddress().get("svg"));
  document.body.dataset.ready = "true";
  if (!state.source.recorded) layGallery(await state.source.json("gallery"));
}

/** @type {any} */ (window).explorer = { state, timings, go, select };
start().catch((error) => showFaultPage({ faults: error.faults ?? [{ what: String(error.message ?? error) }], text: "" }));
