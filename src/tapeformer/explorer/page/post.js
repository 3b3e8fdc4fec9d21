// Reading the tokens of the one-queue construction: one ring, which is the tape itself.

/** The ring and the tape of a run. */
export class PostReading {
  /** @param {any} run */
  constructor(run) {
    this.run = run;
    this.tracks = 1;
    this.reading = run.models[0].reading;
    this.dummy = run.number(this.reading.free);
    this.bottom = run.number(this.reading.bottom);
    this.axis = ["next", "last"];
    this.stacks = [{ tape: 1, side: "left", name: "ring" }, { tape: 1, side: "right", name: "ring" }];
  }

  levels() {
    return 1;
  }

  started() {
    return true;
  }

  highest() {
    return 1;
  }

  /** @param {number} t @param {number} level */
  note(t, level) {
    const length = this.run.modelAt(t).lengths.ring;
    return level === 0 ? ["2 cells", "in the token"] : [`${length} cells`, `head looks back ${length - 1}`];
  }

  waiting() {
    return "";
  }

  /** @param {number} id */
  plain(id) {
    if (id < 0) return this.dummy;
    const text = this.run.texts[id].replace(this.reading.head, "").replace(this.reading.first, "");
    return this.run.number(text);
  }

  /** @param {number} t @param {any} stack @param {number} level */
  ring(t, stack, level) {
    if (t < 0) return null;
    const length = this.run.modelAt(t).lengths.ring;
    const queue = this.run.series("ring", t - length + 1, t + 1);
    const cells = Array.from(queue, (id, i) => ({ id: this.plain(id), t: t - length + 1 + i, name: "ring", level, track: 0 }));
    const first = queue.findIndex((/** @type {number} */ id) => id >= 0 && this.run.texts[id].includes(this.reading.first));
    const mark = Math.max(0, first);
    return {
      t, level, stack, size: length, block: length / 2, mark, passed: length - mark, lost: false, cells: [cells],
      tracks: [Int16Array.from(cells, (cell) => cell.id)],
    };
  }

  /** @param {any} ring @param {number} j @param {number} track */
  cell(ring, j, track) {
    return ring.cells[track][j];
  }

  /** @param {number} t */
  top(t) {
    return ["before", "here"].map((name, track) => ({ id: this.plain(this.run.idAt(t, name)), t, name, level: 0, track }));
  }

  /** @param {number} t */
  settled(t) {
    return t >= this.run.prompt && this.run.steps(t) > 0;
  }

  /** @param {number} t @param {number} _tape @param {number} most */
  tape(t, _tape, most) {
    const length = this.run.modelAt(t).lengths.ring;
    const names = [...this.run.series("ring", Math.max(0, t - length + 1), t + 1), this.run.idAt(t, "before"), this.run.idAt(t, "here")];
    const homes = names.map((_, i) => (i < names.length - 2 ? t - names.length + 3 + i : t));
    const texts = names.map((id) => (id < 0 ? this.reading.free : this.run.texts[id]));
    const first = texts.findIndex((text) => text.includes(this.reading.first));
    const order = texts.map((_, i) => (i + Math.max(0, first)) % texts.length);
    const real = order.filter((i) => texts[i] !== this.reading.free && texts[i] !== this.reading.bottom);
    const cells = real.map((i) => ({
      id: this.plain(names[i]), t: homes[i], level: i < names.length - 2 ? 1 : 0, track: 0,
      name: i < names.length - 2 ? "ring" : ["before", "here"][i - names.length + 2],
    }));
    const at = Math.max(0, real.findIndex((i) => texts[i].includes(this.reading.head)));
    const blank = { id: this.run.number(this.run.machine.blank), t: -1, name: "", level: -1, track: 0 };
    return { left: cells.slice(0, at).reverse().slice(0, most), head: cells[at] ?? blank, right: cells.slice(at + 1).slice(0, most) };
  }

  moves() {
    return null;
  }

  movedBlock() {
    return 0;
  }

  /** @param {number} t */
  groups(t) {
    return [
      { level: 0, title: "registers", live: 1, rows: [["before"], ["here"]], on: true },
      { level: 1, title: "queue", live: this.run.modelAt(t).lengths.ring, rows: [["ring"]], on: true },
    ];
  }

  /** @param {number} t */
  heads(t) {
    return this.run.modelAt(t).heads.map((/** @type {any} */ head) => ({ ...head, level: 1, on: true }));
  }

  /** @param {number} t */
  boundary(t) {
    return this.run.text(t, "stepped") === "1";
  }
}
