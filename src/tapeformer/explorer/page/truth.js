// The direct simulation, replayed in the page from the tapes that come with each slice.

/** The tapes of the direct simulation at any token whose slice is here. */
export class Truth {
  /** @param {any} run */
  constructor(run) {
    this.run = run;
    this.slice = null;
    this.t = -1;
    /** @type {any[]} */
    this.tapes = [];
  }

  /** The tapes up to and including token t: for each, its cells by place and the place of its head.
   * @param {number} t */
  at(t) {
    const slice = this.run.sliceAt(t);
    if (!slice) return null;
    if (this.slice !== slice || t < this.t) this.restart(slice);
    while (this.t < t) {
      this.t += 1;
      for (const rule of this.run.rules(this.t)) this.apply(rule);
    }
    return this.tapes;
  }

  /** @param {any} slice */
  restart(slice) {
    this.slice = slice;
    this.t = slice.start - 1;
    this.tapes = slice.tapes.map((/** @type {any} */ tape) => ({
      head: tape.head,
      cells: new Map(tape.cells.map((/** @type {string} */ cell, /** @type {number} */ i) => [tape.first + i, cell])),
    }));
  }

  /** @param {any} rule */
  apply(rule) {
    this.tapes.forEach((tape, i) => {
      if (rule.write[i] === this.run.machine.blank) tape.cells.delete(tape.head);
      else tape.cells.set(tape.head, rule.write[i]);
      tape.head += { L: -1, S: 0, R: 1 }[/** @type {"L"|"S"|"R"} */ (rule.moves[i])];
      if (this.run.machine.bounded) tape.head = Math.max(0, tape.head);
    });
  }
}
