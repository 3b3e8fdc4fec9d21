// Reading the tokens of the paper's construction: half queues, buffers and marks, as its decoder does.

const ACTIONS = /** @type {Record<string, string>} */ ({
  seek: "looks for a free block", armed: "is about to copy", copy: "takes a block from below",
  wait: "waits for its left end", scan: "hands a block down", more: "hands a block down",
});

/** Levels, stacks and tapes of a run. A level is drawn as T_i, with its buffer as a second track. */
export class PaperReading {
  /** @param {any} run */
  constructor(run) {
    this.run = run;
    this.tracks = 2;
    this.reading = run.models[0].reading;
    this.dummy = run.number(this.reading.dummy);
    this.bottom = run.number(this.reading.bottom);
    this.hole = run.number(this.reading.hole);
    this.none = this.reading.none;
    this.axis = ["next", "last"];
    this.ringCache = new Map();
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

  /** @param {number} t @param {number} _level */
  started(t, _level) {
    return t >= this.run.prompt && this.run.text(t, "phase") !== "wait";
  }

  /** @param {number} t */
  highest(t) {
    return this.started(t, 1) ? this.levels(t) : 0;
  }

  /** @param {number} t @param {number} level @param {any} stack */
  note(t, level, stack) {
    if (level === 0) return ["head", "in the token"];
    const { half, buffer } = this.lengths(t, level);
    const operation = this.run.text(t, `${stack.name}/op`);
    const busy = operation.endsWith(String(level)) ? ACTIONS[operation.slice(0, -String(level).length)] : "";
    return [`2 × ${half} cells`, busy || (buffer ? `back ${half - 1} and ${buffer - 1}` : `head looks back ${half - 1}`)];
  }

  waiting() {
    return "";
  }

  /** @param {number} t @param {number} level */
  lengths(t, level) {
    const lengths = this.run.modelAt(t).lengths;
    return { half: lengths[`half${level}`], buffer: level > 1 ? lengths[`buffer${level}`] : 0 };
  }

  /** A cell's text without its mark. @param {number} id */
  plain(id) {
    const text = id < 0 ? this.reading.dummy : this.run.texts[id];
    return text.endsWith(this.reading.mark) ? this.run.number(text.slice(0, -this.reading.mark.length)) : this.run.number(text);
  }

  /** The place of T_i's head. @param {number} t @param {number} level */
  headOf(t, level) {
    const { half } = this.lengths(t, level);
    const queue = this.run.series(`tape1.left/L${level}`, t - half + 1, t + 1);
    let marked = -1;
    queue.forEach((/** @type {number} */ id, /** @type {number} */ i) => {
      if (marked < 0 && id >= 0 && this.run.texts[id].endsWith(this.reading.mark)) marked = i;
    });
    if (marked < 0) return -1;
    return half - 1 - marked + half * Number(this.run.text(t, `half${level}`));
  }

  /** @param {number} t @param {any} stack @param {number} level */
  swapped(t, stack, level) {
    return level < this.levels(t) && this.run.text(t, `${stack.name}/swap${level}`) === "1";
  }

  /** @param {number} t @param {any} stack @param {number} level */
  ring(t, stack, level) {
    if (!this.started(t, level)) return null;
    const key = `${t}/${stack.name}/${level}`;
    if (!this.ringCache.has(key)) {
      if (this.ringCache.size > 400) this.ringCache.clear();
      this.ringCache.set(key, this.madeRing(t, stack, level));
    }
    return this.ringCache.get(key);
  }

  /** @param {number} t @param {any} stack @param {number} level */
  madeRing(t, stack, level) {
    const head = this.headOf(t, level);
    const { half, buffer } = this.lengths(t, level);
    const size = 2 * half;
    const at = Math.max(0, head);
    const kinds = this.swapped(t, stack, level) ? ["R", "L"] : ["L", "R"];
    /** @type {any[][]} */
    const cells = [[], []];
    kinds.forEach((kind, k) => {
      const queue = this.run.series(`${stack.name}/${kind}${level}`, t - half + 1, t + 1);
      for (let o = 0; o < half; o++) {
        const index = (half - 1 - (at % half) + o) % half;
        cells[0][k * half + o] = { id: this.plain(queue[index]), t: t - half + 1 + index, name: `${stack.name}/${kind}${level}`, level, track: 0 };
        cells[1][k * half + o] = { id: this.dummy, t: -1, name: "", level, track: 1 };
      }
    });
    const waiting = buffer ? this.run.series(`${stack.name}/B${level}`, t - buffer + 1, t + 1) : [];
    waiting.forEach((/** @type {number} */ id, /** @type {number} */ i) => {
      if (id < 0 || id === this.dummy) return;
      const place = (at + buffer - (buffer - 1 - i)) % size;
      cells[1][place] = { id, t: t - buffer + 1 + i, name: `${stack.name}/B${level}`, level, track: 1 };
    });
    const mark = (size - at - 1) % size;
    const turned = (/** @type {any[]} */ row) => row.map((_, j) => row[(j - mark + size) % size]);
    const ordered = cells.map(turned);
    return {
      t, level, stack, size, block: half, mark, passed: at + 1, lost: head < 0, cells: ordered, places: cells,
      tracks: ordered.map((row) => Int16Array.from(row, (cell) => cell.id)),
    };
  }

  /** @param {any} ring @param {number} j @param {number} track */
  cell(ring, j, track) {
    return ring.cells[track][j];
  }

  top() {
    return [];
  }

  /** All cells of a stack from its top down. @param {number} t @param {any} stack */
  cells(t, stack) {
    const operation = this.run.text(t, `${stack.name}/op`);
    /** @type {any[]} */
    const found = [];
    let skipped = 0;
    for (let level = this.levels(t); level >= 1; level--) {
      if (level === skipped) continue;
      const ring = this.ring(t, stack, level);
      if (!ring) continue;
      const own = ring.places[0].map((/** @type {any} */ cell, /** @type {number} */ i) => (ring.places[1][i].id === this.dummy ? cell : ring.places[1][i]));
      if (operation === `scan${level}` || operation === `more${level}`) {
        skipped = level - 1;
        found.push(...own.slice(0, ring.passed), ...this.block(t, stack, skipped), ...own.slice(ring.passed));
      } else found.push(...own);
    }
    return found.filter((cell) => cell.id !== this.dummy).reverse();
  }

  /** The block that is on its way down, as its queue holds it. @param {number} t @param {any} stack @param {number} level */
  block(t, stack, level) {
    const kind = this.swapped(t, stack, level) ? "R" : "L";
    const { half } = this.lengths(t, level);
    const name = `${stack.name}/${kind}${level}`;
    const queue = this.run.series(name, t - half + 1, t + 1);
    return Array.from(queue, (id, i) => ({ id: this.plain(id), t: t - half + 1 + i, name, level, track: 0 }));
  }

  /** @param {number} t @param {number} tape */
  head(t, tape) {
    return { id: this.run.idAt(t, `tape${tape}/head`), t, name: `tape${tape}/head`, level: -1, track: 0 };
  }

  /** @param {number} t */
  settled(t) {
    return this.run.phase(t) === "run" && this.run.text(t, "stepped") === "1";
  }

  /** @param {number} t @param {number} tape @param {number} most */
  tape(t, tape, most) {
    const plain = (/** @type {string} */ symbol) => ({ id: this.run.number(symbol), t: -1, name: "", level: -1, track: 0 });
    if (this.run.phase(t) !== "run" && this.run.phase(t) !== "begin") {
      const word = tape === 1 ? this.run.record.word.slice(0, most).map(plain) : [];
      return { left: [], head: word[0] ?? plain(this.run.machine.blank), right: word.slice(1) };
    }
    const [left, right] = this.stacks.slice(2 * tape - 2, 2 * tape).map((stack) => this.symbols(t, stack));
    const settled = this.settled(t) ? { left, right, head: this.head(t, tape) } : this.settle(t, tape, left, right);
    return { left: settled.left.slice(0, most), head: settled.head, right: settled.right.slice(0, most) };
  }

  /** @param {number} t @param {any} stack */
  symbols(t, stack) {
    return this.cells(t, stack).filter((cell) => cell.id !== this.bottom && cell.id !== this.hole);
  }

  /** Carry out what is pending: the pushes first, then the pop that brings the head's symbol.
   * @param {number} t @param {number} tape @param {any[]} left @param {any[]} right */
  settle(t, tape, left, right) {
    const stacks = this.stacks.slice(2 * tape - 2, 2 * tape);
    const operations = stacks.map((stack) => this.run.text(t, `${stack.name}/op`));
    const written = { id: this.run.idAt(t, `tape${tape}/write`), t, name: `tape${tape}/write`, level: -1, track: 0 };
    const sides = [left, right];
    let head = this.head(t, tape);
    if (this.run.text(t, `tape${tape}/write`) !== this.none) {
      operations.forEach((operation, i) => {
        if (operation === "push") sides[i] = [written, ...sides[i]];
      });
      if (!operations.includes("push")) head = written;
    }
    const popping = operations.indexOf("pop");
    if (popping >= 0) {
      const [first, ...rest] = sides[popping];
      head = first ?? { ...head, id: this.run.number(this.run.machine.blank) };
      sides[popping] = rest;
    }
    return { left: sides[0], head, right: sides[1] };
  }

  moves() {
    return null;
  }

  movedBlock() {
    return 0;
  }

  /** @param {number} t @param {any} stack */
  groups(t, stack) {
    const groups = [{ level: 0, title: "control", live: 1, rows: [[`${stack.name}/op`]], on: true, words: true }];
    for (let level = 1; level <= this.levels(t); level++) {
      const third = level > 1 ? "B" : "M";
      const rows = ["L", "R", third].map((kind) => [`${stack.name}/${kind}${level}`]);
      const { half, buffer } = this.lengths(t, level);
      groups.push({ level, title: `L R ${third}, level ${level}`, live: Math.max(half, buffer), rows, on: true, words: false });
    }
    return groups;
  }

  /** @param {number} t */
  heads(t) {
    return this.run.modelAt(t).heads.map((/** @type {any} */ head) => ({
      ...head, level: Number(head.name.match(/\d+/)?.[0] ?? 1), on: t >= this.run.prompt,
    }));
  }

  /** Whether token t completes a step. @param {number} t */
  boundary(t) {
    return this.settled(t);
  }
}
