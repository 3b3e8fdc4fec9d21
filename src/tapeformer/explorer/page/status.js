// What is said at all times: agreement with the direct simulation, notices, faults.

import { byId, counted, grouped, html, setText } from "./dom.js";
import { state, tapeDifferences } from "./state.js";

const MOST_CELLS = 3000;

/** Compare the shown token with the direct simulation and say how it stands. @param {number} t */
export function drawAgreement(t) {
  const { run } = state;
  const told = agreement(t);
  const badge = byId("agreement");
  badge.dataset.kind = told.kind;
  const sign = { ok: "✓", bad: "✗", wait: "…" }[told.kind];
  const key = `${sign}${told.text}${told.more}`;
  if (badge.dataset.key === key) return;
  badge.dataset.key = key;
  badge.replaceChildren(html("span", { "aria-hidden": "true" }, sign), html("span", {}, told.text), html("small", {}, told.more));
  badge.title = run.record.outcome ? `Every token of the run: ${run.record.difference === null ? "no difference found" : `first difference at token ${run.label(run.record.difference)}`}` : "";
}

/** @param {number} t @returns {{kind: "ok" | "bad" | "wait", text: string, more: string}} */
function agreement(t) {
  const { run } = state;
  const wrong = run.record.broken?.token ?? run.record.difference;
  if (wrong !== null && wrong !== undefined && t >= wrong) {
    return { kind: "bad", text: "Differs from the direct simulation", more: `since token ${grouped(run.label(wrong))}` };
  }
  const differences = tapeDifferences(t, MOST_CELLS);
  if (differences?.length) return { kind: "bad", text: "Differs from the direct simulation", more: `on tape ${differences[0].tape}` };
  const steps = run.steps(t);
  if (differences === null && !steps) return { kind: "wait", text: t < run.prompt ? "The prompt" : "Before the first step", more: "" };
  const of = run.record.outcome && run.record.outcome !== "limit" ? ` of ${grouped(run.record.steps)}` : "";
  return { kind: "ok", text: "Same as the direct simulation", more: `step ${grouped(steps)}${of}` };
}

/** The shown token as a table, for who cannot see the pictures. @param {number} t */
export function speakToken(t) {
  const { run, reading } = state;
  const rows = [["token", run.label(t)], ["step", run.steps(t)], ["state", t < run.prompt ? run.machine.start : run.text(t, "state")]];
  for (let tape = 1; tape <= run.machine.tapes; tape++) rows.push([`under head ${tape}`, run.texts[reading.tape(t, tape, 1).head.id] ?? ""]);
  for (let level = 1; level <= reading.highest(t); level++) {
    const rings = reading.stacks.map((/** @type {any} */ stack) => reading.ring(t, stack, level)).filter(Boolean);
    const filled = rings.map((/** @type {any} */ ring) => ring.tracks.reduce((/** @type {number} */ sum, /** @type {any} */ track) => sum + track.filter((/** @type {number} */ id) => id !== reading.dummy).length, 0));
    rows.push([`cells on level ${level}, stack by stack`, filled.join(", ")]);
  }
  byId("spoken").tBodies[0].replaceChildren(...rows.map(([name, value]) => html("tr", {}, html("th", { scope: "row" }, name), html("td", {}, String(value)))));
}

/** Say what is going on: compiling, a limit, no space, a page that was cut. @param {any} record @param {() => void} [resume] */
export function showNotice(record, resume) {
  const banner = byId("banner");
  const parts = record ? notice(record, resume) : [];
  banner.hidden = !parts.length;
  const key = JSON.stringify([record?.status, record?.outcome, parts.length, record?.what]);
  if (banner.dataset.key === key) return;
  banner.dataset.key = key;
  banner.replaceChildren(...parts);
}

/** @param {any} record @param {() => void} [resume] @returns {any[]} */
function notice(record, resume) {
  if (record.status === "compiling") return [html("span", {}, `Compiling ${record.name} into a Transformer`), html("progress")];
  if (record.status === "refused") return [html("span", {}, html("b", {}, "Not possible. "), record.what)];
  if (record.status === "running" && record.boot === null && !record.broken) return [html("span", {}, `Reading the input: ${counted(record.tokens, "token")} so far`), html("progress")];
  if (record.cut) return [html("span", {}, html("b", {}, "A shortened page. "), `It has the first ${grouped(record.tokens)} of ${counted(record.cut, "token")}.`)];
  if (record.outcome === "limit" && record.status === "done" && !record.broken) {
    const more = state.source.recorded || !resume ? [] : [html("button", { type: "button", onclick: resume }, "Go on for 1,000,000 more")];
    return [html("span", {}, html("b", {}, "Limit. "), `Stopped after ${counted(record.steps, "step")}: this is not an answer.`), ...more];
  }
  if (record.outcome === "out_of_space") {
    return [html("span", {}, html("b", {}, "Out of space. "), "A stack is full: run it again with more levels, or leave levels out and it grows.")];
  }
  return [];
}

/** Show faults in place of the views; with null, the views again. @param {any} record */
export function showFaultPage(record) {
  const page = byId("fault");
  page.hidden = !record;
  if (!record) return;
  const [first] = record.faults;
  const where = first.line ? `Line ${first.line}: ` : "";
  const more = [first.expected && `Expected ${first.expected}.`, first.got && `Got ${first.got}.`, first.remedy && `What to do: ${first.remedy}.`].filter(Boolean);
  page.replaceChildren(html("h1", {}, `${where}${first.what}`), html("p", {}, more.join(" ")), ...record.faults.slice(1, 8).map((/** @type {any} */ f) => html("p", {}, `${f.line ? `Line ${f.line}: ` : ""}${f.what}`)));
  setText(byId("outcome"), "fault");
}
