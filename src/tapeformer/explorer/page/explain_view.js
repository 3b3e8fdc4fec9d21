// The panel that explains: what a token does, or the field, neuron or head that was clicked.

import { byId, counted, grouped, html } from "./dom.js";
import { shown, state } from "./state.js";

const MOVES = /** @type {Record<string, string>} */ ({ L: "moves left", R: "moves right", S: "stays" });
const OUTCOMES = /** @type {Record<string, string>} */ ({
  accept: "Accepted", reject: "Rejected", halt: "Halted",
  limit: "Not finished: the limit was reached", out_of_space: "Out of space: the stacks are full",
});
/** @type {any} */
let handlers = {};
let asked = 0;
/** @type {boolean | null} */
let reasonOpen = null;

/** @param {any} given what to do on clicks */
export function setUpExplain(given) {
  handlers = given;
}

/** @param {number} level */
function disc(level) {
  return html("span", { class: `disc level${level % 8}` }, String(level));
}

/** @param {string} text */
function code(text) {
  return html("code", {}, text);
}

/** Explain the token that is shown, or what is selected. @param {number} t */
export function drawExplain(t) {
  asked += 1;
  if (!state.selected) byId("explain").replaceChildren(...tokenParts(t));
  else if (state.selected.neuron !== undefined) explainPart(t, `neuron=${state.selected.neuron}`, neuronParts);
  else if (state.selected.head !== undefined) explainPart(t, `head=${state.selected.head}`, headParts);
  else drawField(state.selected);
}

/** @param {number} t */
function tokenParts(t) {
  const { run } = state;
  const rules = run.rules(t);
  const heading = html("h2", {}, "What this token does");
  const parts = [heading];
  const first = run.steps(t) - rules.length + 1;
  const steps = rules.length > 1 ? `makes steps ${grouped(first)} to ${grouped(run.steps(t))}` : `is step ${grouped(run.steps(t))}`;
  if (rules.length) parts.push(html("h3", {}, `Token ${grouped(run.label(t))} ${steps}`), ...rules.map(ruleParagraph));
  else parts.push(...phaseParts(t));
  if (t === run.last && run.record.outcome) {
    parts.push(html("p", {}, html("b", {}, OUTCOMES[run.record.outcome]), ` after ${counted(run.steps(t), "step")} in ${counted(run.label(t), "token")}.`));
  }
  parts.push(...moveParts(t), ...growthParts(t), ...reasonParts(t), html("p", { class: "hint" }, "Click a cell to see where it lives, which attention head fetches it and which neuron wrote it."));
  return parts;
}

/** Where a larger model has taken over. @param {number} t */
function growthParts(t) {
  const grown = state.run.models.find((/** @type {any} */ model) => model.start === t && t > 0);
  if (!grown) return [];
  return [html("p", {}, html("b", {}, "The model grew here. "), `It has ${grown.levels} levels from this token on and looks back ${grown.window - 1} tokens at most; the tokens before are kept.`)];
}

/** Why fixed look-backs are enough: open before the first step, then as the reader left it. @param {number} t */
function reasonParts(t) {
  const { construction, base } = state.run.models[0];
  if (construction !== "realtime") return [];
  const longer = base === 2 ? "twice" : `${base} times`;
  const summary = html("summary", { onclick: () => { reasonOpen = !summary.parentNode.open; } }, "Why fixed look-backs are enough");
  return [
    html("details", { open: reasonOpen ?? !state.run.steps(t) },
      summary,
      html("p", {}, "The cells near the tape head are in the token itself. Deeper ones are on rings, and a ring needs no address. Every token carries one column of each of the two parts of each ring, main and delay, so a part of n columns is spread over the last n tokens. Its oldest column is always n − 1 tokens back: an attention head fetches it, the new token writes it again, and the ring turns by itself, whatever it holds."),
      html("p", {}, `Each level's ring is ${longer} as long as that of the level above it in the picture. A block goes down a level when there is too much above and comes back before it is needed. So a deeper stack needs only more, longer rings, each with its own fixed look-back; no look-back ever changes.`)),
  ];
}

/** @param {any} rule */
function ruleParagraph(rule) {
  const { blank, tapes } = state.run.machine;
  const name = (/** @type {string} */ symbol) => html("b", {}, symbol === blank ? "blank" : symbol);
  const parts = rule.read.flatMap((/** @type {string} */ read, /** @type {number} */ i) => {
    const same = rule.write[i] === read;
    const writes = same ? ["keeps it"] : ["writes ", name(rule.write[i])];
    return [i ? "; " : "", tapes > 1 ? `tape ${i + 1}: ` : "", "reads ", name(read), ", ", ...writes, `, ${MOVES[rule.moves[i]]}`];
  });
  const next = rule.next === rule.state ? " The state stays." : "";
  return html("p", {}, "In state ", html("b", {}, rule.state), ", ", ...parts, ".", next, ...(next ? [] : [" Next state: ", html("b", {}, rule.next), "."]));
}

/** @param {number} t */
function phaseParts(t) {
  const { run } = state;
  const phase = run.phase(t);
  const back = state.reading.heads(t).find((/** @type {any} */ h) => run.text(t, `load${h.level}`) === "1")?.back;
  const head = back ? `The attention head that looks back ${back} tokens` : "An attention head that looks back far enough";
  const told = /** @type {Record<string, string[]>} */ ({
    prompt: ["The prompt", t === 0 ? "Token 0 carries the bottom of the stack. The model did not write it." : `This token carries the input symbol ${run.record.word[t - 1]}. The model did not write it.`],
    wait: ["Waiting for the input", `${head} will read the input. It waits until the first input token is that far away.`],
    load: ["Reading the input", `${head} reads one input symbol in each token and pushes it on tape 1's left stack.`],
    fill: ["Filling up", "The input's last block is filled, so that whole blocks can move."],
    rewind: ["Rewinding", "The head of tape 1 moves left, one cell a token, until the bottom of the left stack comes up."],
    first: ["Finding the first cell", "The queue turns until the first cell comes by."],
    begin: ["Ready", "The input is on tape 1; the next token begins the first step."],
    run: ["Between two steps", "No rule in this token: the step under way moves symbols between queues."],
  })[phase] ?? ["Token", ""];
  return [html("h3", {}, told[0]), html("p", {}, told[1])];
}

/** What moves between levels. @param {number} t */
function moveParts(t) {
  const items = [];
  const order = [...state.reading.stacks].sort((a, b) => near(b) - near(a));
  for (const stack of order) {
    for (let level = 1; level <= state.reading.highest(t); level++) {
      const move = state.reading.moves(t, stack, level);
      if (!move) continue;
      const where = state.run.machine.tapes > 1 ? `Tape ${stack.tape}, ${stack.side}: ` : `${stack.side === "left" ? "Left" : "Right"} stack: `;
      const letters = shown(move.moved.id);
      const symbol = html("b", {}, letters === "□" ? "blank" : letters === "⊥" ? "the bottom" : letters);
      const ends = move.operation === "push" ? [disc(level - 1), " → ", disc(level)] : [disc(level), " → ", disc(level - 1)];
      items.push(html("li", { class: `level${level % 8}` }, where, ...ends, " ", symbol, move.of > 1 ? `, ${move.done} of ${move.of}` : ""));
    }
  }
  if (!items.length) return [];
  const more = items.length - 4;
  return [
    html("p", { class: "lead" }, "Meanwhile, between the levels:"),
    html("ul", {}, ...items.slice(0, 4)),
    ...(more > 0 ? [html("p", {}, `and ${more} more`)] : []),
  ];
}

/** @param {any} stack */
function near(stack) {
  return (stack.tape === state.tape ? 2 : 0) + (stack.side === state.side ? 1 : 0);
}

/** @param {string} kind @param {string} title */
function opening(kind, title) {
  const back = html("button", { class: "icon back", type: "button", "aria-label": "Clear the selection", title: "Clear (Esc)", onclick: () => handlers.select(null) }, "✕");
  return [back, html("h2", {}, kind), html("h3", {}, title)];
}

/** @param {any} cell */
async function drawField(cell) {
  const mine = asked;
  const { run } = state;
  const value = run.text(cell.t, cell.name);
  const number = run.label(cell.t);
  const kind = cell.t < run.prompt ? "A field of the prompt" : `A field of token ${grouped(number)}`;
  const start = [...opening(kind, fieldTitle(cell)), html("p", {}, code(`${cell.name} = ${value}`))];
  const facts = html("dl", {}, ...placeFacts(cell));
  byId("explain").replaceChildren(...start, facts);
  if (cell.t < run.prompt) return;
  if (state.source.recorded) {
    facts.append(...recordedFacts(cell, value));
    return;
  }
  try {
    const told = await state.source.json(`runs/${run.id}/explain?token=${cell.t}&field=${encodeURIComponent(cell.name)}`);
    if (mine === asked) facts.append(...writerFacts(told));
  } catch (error) {
    if (mine === asked) facts.append(html("dt", {}, "Weights"), html("dd", {}, String(/** @type {any} */ (error).message)));
  }
}

/** What a recorded page knows: the neurons that can write a value, but not which one did. @param {any} cell @param {string} value */
function recordedFacts(cell, value) {
  const neurons = state.source.writers(cell.name, value).slice(0, 6);
  const items = neurons.map((/** @type {any} */ neuron) => html("li", {}, `${neuron.coefficient > 0 ? "+" : "−"} ${neuron.name}`, lines(neuron.rules)));
  return items.length ? [html("dt", {}, "Can be written by"), html("dd", {}, html("ul", { class: "neurons" }, ...items))] : [];
}

/** @param {any} cell */
function fieldTitle(cell) {
  const text = state.run.text(cell.t, cell.name);
  const dummy = state.run.texts[state.reading.dummy];
  const bottom = state.run.texts[state.reading.bottom];
  if (/track|top|head|\/[LRBM]\d|ring|here|before/.test(cell.name)) {
    if (text === dummy) return "an empty cell";
    if (text === bottom) return "the bottom of the stack";
    return text === state.run.machine.blank ? "a blank" : `symbol ${text}`;
  }
  return text;
}

/** Where a cell lives, which head fetches it and when. @param {any} cell */
function placeFacts(cell) {
  const { run } = state;
  const queue = cell.name.match(/\/(main|delay|L|R|B)(\d+)(?:\.track(\d))?/);
  if (!queue) return [html("dt", {}, "Lives in"), html("dd", {}, "the token's own registers: every token writes them anew")];
  const level = Number(queue[2]);
  const kinds = /** @type {Record<string, string>} */ ({ L: "a half queue", R: "a half queue", B: "the buffer", main: "main half", delay: "delay half" });
  const lengths = run.modelAt(cell.t).lengths;
  const rules = /** @type {Record<string, string>} */ ({ L: `half${level}`, R: `half${level}`, B: `buffer${level}`, main: `main${level}`, delay: level === 1 ? "one" : `delay${level}` });
  const back = lengths[rules[queue[1]]] - 1;
  const head = run.modelAt(cell.t).heads.find((/** @type {any} */ h) => h.back === back);
  const facts = [html("dt", {}, "Lives in"), html("dd", {}, "level ", disc(level), `, ${kinds[queue[1]]}`, queue[3] ? `, track ${queue[3]}` : "")];
  if (!head || back === 0) return [...facts, html("dt", {}, "Fetched by"), html("dd", {}, "no head: the next token sees this one")];
  const link = html("button", { class: "link", type: "button", onclick: () => handlers.select({ head: head.number, t: cell.t, name: "" }) }, `head ${head.number}`);
  const reads = cell.t + back;
  const when = reads < state.target ? `was read at token ${grouped(run.label(reads))}, never again` : reads === state.target ? "now, for the next token" : `in ${counted(reads - state.target, "token")}`;
  return [...facts, html("dt", {}, "Fetched by"), html("dd", {}, link, `, which always looks back ${back}`), html("dt", {}, "When"), html("dd", {}, when)];
}

/** @param {any} told */
function writerFacts(told) {
  const logits = Object.entries(told.logits).sort((a, b) => /** @type {number} */ (b[1]) - /** @type {number} */ (a[1])).slice(0, 3);
  const facts = [html("dt", {}, "Logits"), html("dd", {}, logits.map(([value, logit]) => `${value}: ${logit}`).join(", "))];
  const neurons = told.neurons.map((/** @type {any} */ neuron) =>
    html("li", {}, html("button", { class: "link", type: "button", onclick: () => handlers.select({ neuron: neuron.number, t: state.selected.t, name: "" }) }, `${neuron.coefficient > 0 ? "+" : "−"} ${neuron.name}`), lines(neuron.rules)),
  );
  const list = neurons.length ? html("ul", { class: "neurons" }, ...neurons) : "nothing: no neuron is on, so the bias decides";
  return [...facts, html("dt", {}, "Written by"), html("dd", {}, list)];
}

/** The lines of the machine that a neuron comes from. @param {any} rules */
function lines(rules) {
  const numbers = [...new Set(rules.rules.map((/** @type {any} */ rule) => rule.line).filter(Boolean))];
  if (!numbers.length) return "";
  if (state.source.recorded) return html("span", { class: "hint" }, ` line ${numbers.slice(0, 4).join(", ")}`);
  const links = numbers.slice(0, 4).map((line) => html("button", { class: "link line", type: "button", onclick: () => handlers.showLine(line) }, `line ${line}`));
  return html("span", {}, " ", ...links.flatMap((link) => [link, " "]), numbers.length > 4 || rules.more ? "…" : "");
}

/** @param {number} t @param {string} query @param {(told: any) => any[]} parts */
async function explainPart(t, query, parts) {
  const mine = asked;
  const token = Math.max(state.run.prompt, Math.min(t, state.run.last));
  try {
    const told = await state.source.json(`runs/${state.run.id}/explain?token=${token}&${query}`);
    if (mine === asked) byId("explain").replaceChildren(...parts(told));
  } catch (error) {
    const shown = [...opening("Explanation", "Not available"), html("p", {}, String(/** @type {any} */ (error).message))];
    if (mine === asked) byId("explain").replaceChildren(...shown);
  }
}

/** @param {any} told */
function neuronParts(told) {
  const name = told.title.replace(/^neuron \d+: /, "").replace(/ \(layer.*$/, "");
  const terms = told.terms.map((/** @type {any} */ term) =>
    html("li", { class: term.value ? "on" : "" }, `${term.weight > 0 ? "+" : "−"}${Math.abs(term.weight)} `, term.name, html("b", {}, ` = ${term.value}`),
      state.source.recorded || state.run.record.broken ? "" : html("button", { class: "link flip", type: "button", title: "Flip the sign of this weight and run again", onclick: () => handlers.breakIt({ kind: "weight", number: told.number, input: term.input }) }, "flip")),
  );
  return [
    ...opening(`Neuron ${grouped(told.number)}`, name),
    html("p", {}, `relu(sum ${told.bias < 0 ? "−" : "+"} ${Math.abs(told.bias)}) = `, html("b", {}, String(told.activation)), told.activation ? ": it is on." : ": it is off."),
    html("p", { class: "lead" }, `${counted(told.terms.length + told.more, "input")}:`), html("ul", { class: "terms" }, ...terms),
    ...(told.more ? [html("p", {}, `and ${told.more} more`)] : []),
    ...ruleParts(told.rules),
    html("p", { class: "lead" }, "It feeds:"), html("ul", { class: "terms" }, ...told.writes.slice(0, 6).map((/** @type {string} */ text) => html("li", {}, text))),
  ];
}

/** @param {any} rules */
function ruleParts(rules) {
  if (!rules.rules.length) return [];
  const items = rules.rules.slice(0, 6).map((/** @type {any} */ rule) => html("li", {}, code(rule.text), " ", rule.line ? html("button", { class: "link line", type: "button", onclick: () => handlers.showLine(rule.line) }, `line ${rule.line}`) : ""));
  return [html("p", { class: "lead" }, "Because of:"), html("ul", { class: "terms" }, ...items)];
}

/** @param {any} told */
function headParts(told) {
  const copied = told.reads.slice(1).map((/** @type {string} */ text) => text.replace("value from ", "").replace(/=.*/, ""));
  const fields = [...new Set(copied)].slice(0, 8);
  const off = state.source.recorded || state.run.record.broken ? "" : html("button", { class: "wide", type: "button", onclick: () => handlers.breakIt({ kind: "head", number: told.number }) }, "Switch this head off");
  return [
    ...opening("An attention head", `Head ${told.number} looks back ${told.back}`),
    html("p", {}, "Its query is a constant that picks one coordinate of the positional encoding, so the highest score is always ", html("b", {}, `${told.back} tokens back`), ": ", told.why, "."),
    html("p", { class: "lead" }, "It copies, among others:"), html("ul", { class: "terms" }, ...fields.map((field) => html("li", {}, code(field)))),
    html("button", { class: "wide", type: "button", onclick: () => handlers.showAttention(told.number) }, "Show its scores"), " ", off,
  ];
}
