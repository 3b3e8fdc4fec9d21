// A run as the page knows it: what it is, how far it has come, and a few slices of its tokens.

const MOST_BYTES = 48 << 20;
/** What is read where there is no token. */
export const NOTHING = -1;

/** Tokens of a run, fetched when they are needed. */
export class Run {
  /** @param {any} source @param {string} id @param {any} record */
  constructor(source, id, record) {
    this.source = source;
    this.id = id;
    /** @type {any[]} */
    this.models = [];
    /** @type {Map<number, any>} */
    this.slices = new Map();
    /** @type {Map<number, Promise<any>>} */
    this.coming = new Map();
    /** @type {string[]} */
    this.texts = [];
    /** @type {Map<string, number>} */
    this.numbers = new Map();
    this.bytes = 0;
    this.machine = record.machine;
    this.update(record);
    const letters = this.machine.symbols.filter((/** @type {string} */ s) => s !== this.machine.blank);
    this.letters = [...letters].sort();
  }

  /** Take over a newer description. @param {any} record */
  update(record) {
    const { model, machine, ...rest } = record;
    this.record = { ...this.record, ...rest };
    for (const added of (model ?? []).slice(this.models.length ? 0 : undefined)) this.addModel(added);
    this.tokens = this.record.tokens;
    this.prompt = this.record.prompt;
    this.starts = this.record.slices;
  }

  /** @param {any} model */
  addModel(model) {
    if (this.models.some((known) => known.start === model.start)) return;
    const index = new Map(model.fields.map((/** @type {any} */ field, /** @type {number} */ i) => [field[0], i]));
    const ids = model.domains.map((/** @type {string[]} */ domain) => Int16Array.from(domain, (text) => this.number(text)));
    const codes = model.fields.map((/** @type {any} */ field) => ids[field[1]]);
    const fill = model.fill.map((/** @type {number} */ value, /** @type {number} */ i) => codes[i][value]);
    this.models.push({ ...model, index, codes, fill });
  }

  /** The number of a text in this run. @param {string} text */
  number(text) {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.texts.length);
    this.texts.push(text);
    return this.texts.length - 1;
  }

  get last() {
    return this.tokens - 1;
  }

  /** Token numbers are counted as the library does: the prompt has none. @param {number} t */
  label(t) {
    return Math.max(0, t - this.prompt + 1);
  }

  /** The place of the last token before the first step. */
  get beginning() {
    return this.record.boot === null ? this.prompt - 1 : this.prompt + this.record.boot - 1;
  }

  /** @param {number} t */
  sliceNumber(t) {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The slice of a token if it is here. @param {number} t */
  sliceAt(t) {
    const slice = this.slices.get(this.sliceNumber(t));
    return slice && t >= slice.start && t < slice.stop ? slice : null;
  }

  /** The model that made a token. @param {number} t */
  modelAt(t) {
    let found = this.models[0];
    for (const model of this.models) if (model.start <= t) found = model;
    return found;
  }

  /** The first token that a view of token t reads. @param {number} t */
  reach(t) {
    return Math.max(0, t - this.modelAt(t).window - 1);
  }

  /** Whether all that a view of token t reads is here. @param {number} t */
  has(t) {
    const first = this.sliceNumber(this.reach(t));
    for (let n = first; n < this.sliceNumber(t); n++) if (!this.slices.has(n)) return false;
    return this.sliceAt(t) !== null;
  }

  /** Fetch all that a view of token t reads. @param {number} t */
  async fetch(t) {
    const wanted = [];
    for (let n = this.sliceNumber(this.reach(t)); n <= this.sliceNumber(t); n++) wanted.push(n);
    await Promise.all(wanted.map((n) => this.fetchSlice(n, n === this.sliceNumber(t) ? t : -1)));
    this.forget(wanted);
  }

  /** @param {number} number @param {number} [t] */
  async fetchSlice(number, t = -1) {
    const known = this.slices.get(number);
    if (known && t < known.stop) return known;
    let coming = this.coming.get(number);
    if (!coming) {
      coming = this.source.slice(this.id, number).finally(() => this.coming.delete(number));
      this.coming.set(number, /** @type {Promise<any>} */ (coming));
    }
    const slice = await coming;
    this.bytes += slice.data.length - (this.slices.get(number)?.data.length ?? 0);
    this.slices.set(number, prepared(slice, this.models[slice.model]));
    return slice;
  }

  /** Forget slices that were fetched long ago, but none that is wanted now. @param {number[]} wanted */
  forget(wanted) {
    for (const [number, slice] of this.slices) {
      if (this.bytes < MOST_BYTES) return;
      if (wanted.includes(number)) continue;
      this.slices.delete(number);
      this.bytes -= slice.data.length;
    }
  }

  /** The number of the text in a field of a token; as in a prompt where the field was not there.
   * @param {number} t @param {string} name */
  idAt(t, name) {
    const slice = this.sliceAt(t);
    if (!slice) return NOTHING;
    const model = this.models[slice.model];
    const place = model.index.get(name);
    if (place === undefined) return this.filled(name);
    return model.codes[place][slice.values[place * slice.count + t - slice.start]];
  }

  /** @param {string} name */
  filled(name) {
    const model = this.models[this.models.length - 1];
    const place = model.index.get(name);
    return place === undefined ? NOTHING : model.fill[place];
  }

  /** The text of a field of a token. @param {number} t @param {string} name */
  text(t, name) {
    const id = this.idAt(t, name);
    return id === NOTHING ? "" : this.texts[id];
  }

  /** A field in each of some tokens, as numbers of texts.
   * @param {string} name @param {number} start @param {number} stop */
  series(name, start, stop) {
    const found = new Int16Array(Math.max(0, stop - start)).fill(NOTHING);
    for (let t = Math.max(0, start); t < stop; ) {
      const slice = this.sliceAt(t);
      if (!slice) return found;
      const end = Math.min(stop, slice.stop);
      const model = this.models[slice.model];
      const place = model.index.get(name);
      if (place === undefined) found.fill(this.filled(name), t - start, end - start);
      else {
        const codes = model.codes[place];
        const base = place * slice.count - slice.start;
        for (let at = t; at < end; at++) found[at - start] = codes[slice.values[base + at]];
      }
      t = end;
    }
    return found;
  }

  /** The number of steps up to a token. @param {number} t */
  steps(t) {
    const slice = this.sliceAt(t);
    return slice ? slice.steps + slice.counts[t - slice.start] : 0;
  }

  /** The last rule that the direct simulation applies in a token, or null. @param {number} t */
  rule(t) {
    return this.rules(t).at(-1) ?? null;
  }

  /** The rules of all steps that a token makes. @param {number} t @returns {any[]} */
  rules(t) {
    const slice = this.sliceAt(t);
    if (!slice) return [];
    const at = t - slice.start;
    const numbers = slice.rules.subarray(at ? slice.counts[at - 1] : 0, slice.counts[at]);
    return Array.from(numbers, (number) => this.machine.rules[number]).filter(Boolean);
  }

  /** Whether a token has the direct simulation's state and symbols under the heads. @param {number} t */
  agrees(t) {
    const slice = this.sliceAt(t);
    return slice ? slice.agree[t - slice.start] === 1 : true;
  }

  /** The phase of a token: prompt, some phases of loading, run. @param {number} t */
  phase(t) {
    return t < this.prompt ? "prompt" : this.text(t, "phase");
  }
}

/** A slice with views on its columns. @param {any} slice @param {any} model */
function prepared(slice, model) {
  const count = slice.stop - slice.start;
  const fields = model.fields.length;
  const size = fields * count * slice.width;
  const bytes = slice.data.slice(0);
  const values = slice.width === 1 ? bytes.subarray(0, size) : new Uint16Array(bytes.buffer, 0, fields * count);
  const counts = new Uint32Array(count);
  let steps = 0;
  const stepped = model.index.get("stepped");
  const made = model.domains[model.fields[stepped][1]].map(Number);
  for (let i = 0; i < count; i++) {
    steps += made[values[stepped * count + i]];
    counts[i] = steps;
  }
  const rules = new Uint16Array(bytes.slice(size, size + 2 * steps).buffer);
  const agree = bytes.subarray(size + 2 * steps);
  return { ...slice, data: bytes, count, values, rules, agree, counts };
}

/** Some series, one after another. @param {Int16Array[]} parts */
export function joined(parts) {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
