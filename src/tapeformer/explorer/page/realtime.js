// Reading the tokens of the real-time construction: rings, stacks and tapes, as its decoder does.

import { joined } from "./run.js";

const TRACKS = 5;
const KINDS = ["main", "delay"];
const NO_MARK = "-";
const SOME = "x";
/** How many tracks lower a column is once the level above has shifted it in this turn. */
const BEHIND = /** @type {Record<string, number>} */ ({ push: 1, none: 0, pull: -1 });

/** Rings, stacks and tapes of a run. */
export class RealtimeReading {
  /** @param {any} run */
  constructor(run) {
    this.run = run;
    this.tracks = TRACKS;
    this.reading = run.models[0].reading;
    this.dummy = run.number(this.reading.dummy);
    this.bottom = run.number(this.reading.bottom);
    this.some = run.number(SOME);
    this.noMark = run.number(NO_MARK);
    this.marked = run.number("1");
    this.axis = KINDS;
    this.ringCache = new Map();
    this.block = this.reading.steps_per_token ?? 1;
    /** The symbols of a cell that holds several, by the number of its text. @type {Map<number, string[]>} */
    this.blocks = new Map();
    /** @type {any[]} */
    this.stacks = [];
    for (let tape = 1; tape <= run.machine.tapes; tape++) {
      for (const side of ["left", "right"]) this.stacks.push({ tape, side, name: `tape${tape}.${side}` });
    }
  }

  /** @param {number} t */
  levels(t) {
    return this.run.modelAt(t).levels;
  }

  /** @param {number} t @param {number} level */
  started(t, level) {
    return this.run.text(t, `started${level}`) === "1";
  }

  /** The highest level that has started. @param {number} t */
  highest(t) {
    let found = 0;
    for (let level = 1; level <= this.levels(t); level++) if (this.started(t, level)) found = level;
    return found;
  }

  /** What is written about a level. @param {number} t @param {number} level */
  note(t, level) {
    if (level === 0) return [`${TRACKS} cells`, "in the token"];
    const lengths = this.lengths(t, level);
    const back = [...new Set(lengths)].map((length) => length - 1).filter((length) => length > 0);
    const told = back.length > 1 ? `back ${back.join(" and ")}` : `head looks back ${back[0]}`;
    return [`${lengths[0] + lengths[1]} columns`, back.length ? told : "in the token"];
  }

  /** @param {number} level */
  waiting(level) {
    return `starts when level ${level - 1} holds three full tracks`;
  }

  /** The lengths of main and delay. @param {number} t @param {number} level */
  lengths(t, level) {
    const lengths = this.run.modelAt(t).lengths;
    return [lengths[`main${level}`], level === 1 ? lengths.one : lengths[`delay${level}`]];
  }

  /** A cell in each of some tokens, coded alphabets read from their bits.
   * @param {string} name @param {number} tape @param {number} start @param {number} stop */
  ids(name, tape, start, stop) {
    const own = this.run.series(name, start, stop);
    const symbols = this.reading.coded[tape - 1];
    if (!symbols.length) return own;
    const held = this.coded(name, symbols, start, stop);
    return own.map((/** @type {number} */ id, /** @type {number} */ i) => (id === this.some ? held[i] : id));
  }

  /** @param {string} name @param {string[]} symbols @param {number} start @param {number} stop */
  coded(name, symbols, start, stop) {
    const width = Math.ceil(Math.log2(symbols.length));
    /** @type {Int32Array[]} */
    const parts = [];
    for (let cell = 0; cell < (name.includes("/window") ? 1 : this.block); cell++) {
      const numbers = new Int32Array(stop - start);
      for (let bit = 0; bit < width; bit++) {
        const values = this.run.series(`${name}.bit${cell * width + bit}`, start, stop);
        for (let i = 0; i < values.length; i++) if (values[i] === this.marked) numbers[i] |= 1 << bit;
      }
      parts.push(numbers);
    }
    return Int16Array.from(parts[0], (_, i) => this.blockId(parts.map((numbers) => symbols[numbers[i]] ?? SOME)));
  }

  /** The number of the text of one symbol or of several in a cell. @param {string[]} held */
  blockId(held) {
    const id = this.run.number(held.join(""));
    if (held.length > 1) this.blocks.set(id, held);
    return id;
  }

  /** Level 0: the cells in the token's own registers, track 0 first. @param {number} t @param {any} stack */
  top(t, stack) {
    const cells = [];
    for (let track = 0; track < TRACKS; track++) {
      const name = `${stack.name}/top.track${track}`;
      cells.push({ id: this.ids(name, stack.tape, t, t + 1)[0], t, name, level: 0, track });
    }
    return cells;
  }

  /** A level's ring: for each track its cells in the order in which they are read next.
   * @param {number} t @param {any} stack @param {number} level */
  ring(t, stack, level) {
    if (t < 0 || !this.started(t, level)) return null;
    const key = `${t}/${stack.name}/${level}`;
    if (!this.ringCache.has(key)) {
      if (this.ringCache.size > 400) this.ringCache.clear();
      this.ringCache.set(key, this.madeRing(t, stack, level));
    }
    return this.ringCache.get(key);
  }

  /** @param {number} t @param {any} stack @param {number} level */
  madeRing(t, stack, level) {
    const lengths = this.lengths(t, level);
    const marks = joined(KINDS.map((kind, k) => this.run.series(`tape1.left/${kind}${level}.mark`, t - lengths[k] + 1, t + 1)));
    const start = marks.indexOf(this.marked);
    const tracks = [];
    for (let track = 0; track < TRACKS; track++) {
      const name = (/** @type {string} */ kind) => `${stack.name}/${kind}${level}.track${track}`;
      const cells = joined(KINDS.map((kind, k) => this.ids(name(kind), stack.tape, t - lengths[k] + 1, t + 1)));
      for (let j = 0; j < cells.length; j++) {
        if (marks[j] === this.noMark || marks[j] < 0) cells[j] = this.dummy;
      }
      tracks.push(cells);
    }
    const size = marks.length;
    return {
      t, level, size, stack, tracks, lengths,
      block: lengths[1],
      lost: start < 0,
      mark: Math.max(0, start),
      passed: size - Math.max(0, start),
    };
  }

  /** The cell of a ring at a place in reading order. @param {any} ring @param {number} j @param {number} track */
  cell(ring, j, track) {
    const kind = j < ring.lengths[0] ? 0 : 1;
    const age = kind === 0 ? ring.lengths[0] - 1 - j : ring.size - 1 - j;
    const name = `${ring.stack.name}/${KINDS[kind]}${ring.level}.track${track}`;
    return { id: ring.tracks[track][j], t: ring.t - age, name, level: ring.level, track };
  }

  /** The cells of a stack from its top down, read level by level as far as they are asked for.
   * @param {number} t @param {any} stack @returns {Generator<any>} */
  *cells(t, stack) {
    for (const cell of this.top(t, stack).reverse()) if (cell.id !== this.dummy) yield cell;
    yield* this.from(t, stack, 1);
  }

  /** The cells of a level and of those above it. What the level above hands down comes after the rest.
   * @param {number} t @param {any} stack @param {number} level @returns {Generator<any>} */
  *from(t, stack, level) {
    if (level > this.levels(t)) return;
    const ring = this.ring(t, stack, level);
    if (!ring) {
      yield* this.from(t, stack, level + 1);
      return;
    }
    const operation = level === this.levels(t) ? "none" : this.run.text(t, `${stack.name}/op${level + 1}`);
    const { own, arrived } = this.ordered(ring, BEHIND[operation] ?? 0);
    yield* own;
    const above = this.from(t, stack, level + 1);
    const still = operation === "pull" ? ring.size - ring.passed : 0;
    for (let i = 0; i < still; i++) {
      const next = above.next();
      if (next.done) break;
      yield next.value;
    }
    yield* arrived;
    yield* above;
  }

  /** The cells of a ring, nearest to the top first: by track, as it was before this turn, then place.
   * @param {any} ring @param {number} behind */
  ordered(ring, behind) {
    /** @type {any[]} */
    const own = [];
    /** @type {any[]} */
    const arrived = [];
    for (let key = TRACKS; key >= -1; key--) {
      for (let place = ring.size - 1; place >= 0; place--) {
        const track = key - (place < ring.passed ? behind : 0);
        if (track < 0 || track >= TRACKS) continue;
        const j = (ring.mark + place) % ring.size;
        if (ring.tracks[track][j] === this.dummy) continue;
        (key < 0 ? arrived : own).push(this.cell(ring, j, track));
      }
    }
    return { own, arrived };
  }

  /** The symbol under a head. @param {number} t @param {number} tape */
  head(t, tape) {
    const symbols = this.reading.coded[tape - 1];
    const name = `tape${tape}/head`;
    const id = symbols.length ? this.coded(name, symbols, t, t + 1)[0] : this.run.idAt(t, name);
    return { id, t, name: symbols.length ? `${name}.bit0` : name, level: -1, track: 0 };
  }

  /** Whether the tapes can be compared with the direct simulation. @param {number} t */
  settled(t) {
    return this.run.phase(t) === "run";
  }

  /** The cells beside a head, nearest first, at most so many on a side; ends are told from gaps.
   * @param {number} t @param {number} tape @param {number} most */
  tape(t, tape, most) {
    const [left, right] = this.stacks.slice(2 * tape - 2, 2 * tape);
    const phase = this.run.phase(t);
    if (tape === 1 && phase !== "run" && phase !== "rewind") return this.loading(t, most);
    if (this.block > 1) return this.spelled(t, tape, most);
    return {
      left: this.beside(t, left, most),
      head: this.head(t, tape),
      right: this.beside(t, right, most),
    };
  }

  /** A tape whose cells hold several symbols each: the registers around the head, then the stacks.
   * @param {number} t @param {number} tape @param {number} most */
  spelled(t, tape, most) {
    const symbols = this.reading.coded[tape - 1];
    const near = [];
    for (let cell = 0; cell < 3 * this.block; cell++) {
      const name = `tape${tape}/window${cell}`;
      near.push({ id: this.coded(name, symbols, t, t + 1)[0], t, name: `${name}.bit0`, level: -1, track: 0 });
    }
    const place = this.block + Number(this.run.text(t, `tape${tape}/position`));
    const [left, right] = this.stacks.slice(2 * tape - 2, 2 * tape).map((stack) => this.beside(t, stack, most));
    const apart = (/** @type {any} */ cell) => (this.blocks.get(cell.id) ?? [this.run.texts[cell.id]]).map((symbol) => ({ ...cell, id: this.run.number(symbol) }));
    return {
      left: [...near.slice(0, place).reverse(), ...left.flatMap((cell) => apart(cell).reverse())].slice(0, most),
      head: near[place],
      right: [...near.slice(place + 1), ...right.flatMap(apart)].slice(0, most),
    };
  }

  /** @param {number} t @param {any} stack @param {number} most */
  beside(t, stack, most) {
    const found = [];
    for (const cell of this.cells(t, stack)) {
      if (cell.id === this.bottom) break;
      found.push(cell);
      if (found.length >= most) break;
    }
    return found;
  }

  /** Tape 1 while the prompt is read: what is on the left stack, then what is still to be read.
   * @param {number} t @param {number} most */
  loading(t, most) {
    const plain = (/** @type {string} */ symbol) => ({ id: this.run.number(symbol), t: -1, name: "", level: -1, track: 0 });
    const seen = t < this.run.prompt ? this.run.record.word.slice(0, t) : this.run.record.word;
    const word = seen.slice(0, most).map(plain);
    return { left: [], head: word[0] ?? plain(this.run.machine.blank), right: word.slice(1) };
  }

  /** What moves between a level and the one below in a token. @param {number} t @param {any} stack @param {number} level */
  moves(t, stack, level) {
    if (t < 1 || !this.started(t, level)) return null;
    const operation = this.run.text(t, `${stack.name}/op${level}`);
    if (operation !== "push" && operation !== "pull") return null;
    const ring = this.ring(t, stack, level);
    const below = level > 1 ? this.ring(t, stack, level - 1) : null;
    const done = below ? below.passed : 1;
    const moved = operation === "push" ? this.pushed(t, stack, level) : this.pulled(t, stack, level);
    if (!ring || !moved || moved.id === this.dummy) return null;
    return { operation, moved, done, of: below ? below.size : 1, text: "" };
  }

  /** @param {number} t @param {any} stack @param {number} level */
  pushed(t, stack, level) {
    if (level === 1) return this.top(t - 1, stack)[0];
    const below = this.ring(t - 1, stack, level - 1);
    return below ? this.cell(below, 0, 0) : null;
  }

  /** @param {number} t @param {any} stack @param {number} level */
  pulled(t, stack, level) {
    const ring = this.ring(t - 1, stack, level);
    if (!ring) return null;
    for (let track = TRACKS - 1; track >= 0; track--) {
      const cell = this.cell(ring, ring.lengths[0], track);
      if (cell.id !== this.dummy) return cell;
    }
    return null;
  }

  /** The block of a ring that a move fills or empties, as its number. @param {any} ring @param {any} move */
  movedBlock(ring, move) {
    const blocks = ring.size / ring.block;
    const at = Math.floor((ring.passed - 1) / ring.block);
    return move.operation === "push" ? at : (at + 1) % blocks;
  }

  /** The rows of the token strip for a stack: fields by level. @param {number} t @param {any} stack */
  groups(t, stack) {
    const rows = (/** @type {string[]} */ names) => {
      const found = [];
      for (let track = TRACKS - 1; track >= 0; track--) found.push(names.map((name) => `${name}.track${track}`));
      return found;
    };
    const groups = [{ level: 0, title: "registers", live: 1, rows: rows([`${stack.name}/top`]), on: true }];
    for (let level = 1; level <= Math.max(1, this.highest(t)); level++) {
      const names = KINDS.map((kind) => `${stack.name}/${kind}${level}`);
      groups.push({
        level, title: `level ${level}`, live: Math.max(...this.lengths(t, level)),
        rows: rows(names), on: this.started(t, level),
      });
    }
    return groups;
  }

  /** The heads with what they are for: look-back, level, and whether they fetch anything yet. @param {number} t */
  heads(t) {
    const model = this.run.modelAt(t);
    return model.heads.map((/** @type {any} */ head) => {
      const level = Number(head.name.match(/\d+/)?.[0] ?? 1);
      const loads = this.run.text(t, `load${level}`) === "1" && this.run.phase(t) === "load";
      return { ...head, level, on: loads || this.started(t, level) };
    });
  }

  /** Whether token t begins a turn of the highest started ring. @param {number} t */
  boundary(t) {
    const highest = this.highest(t);
    if (!highest) return false;
    const ring = this.ring(t, this.stacks[0], highest);
    return ring !== null && ring.passed % ring.block === 0;
  }
}
