// Where runs come from: the server that served the page, or a recording inside it.

/** @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
async function inflated(bytes) {
  const stream = new Blob([/** @type {any} */ (bytes)]).stream();
  const plain = stream.pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** What the server refused, with its faults. */
export class Refused extends Error {
  /** @param {any[]} faults */
  constructor(faults) {
    super(faults.map((fault) => fault.what).join("; "));
    this.faults = faults;
  }
}

/** The server. */
export class ServerSource {
  constructor() {
    this.recorded = false;
    this.token = new URLSearchParams(location.search).get("token") ?? "";
  }

  /** @param {string} path @param {any} [body] @returns {Promise<Response>} */
  async ask(path, body) {
    /** @type {Record<string, string>} */
    const headers = { "x-tapeformer-token": this.token };
    /** @type {RequestInit} */
    const options = { headers };
    if (body !== undefined) {
      options.method = "POST";
      options.body = JSON.stringify(body);
      headers["content-type"] = "application/json";
    }
    const answer = await fetch(`/api/${path}`, options);
    if (answer.ok) return answer;
    const told = await answer.json().catch(() => ({}));
    throw new Refused(told.faults ?? [{ what: told.refused ?? `the server says ${answer.status}` }]);
  }

  /** @param {string} path @param {any} [body] @returns {Promise<any>} */
  async json(path, body) {
    return (await this.ask(path, body)).json();
  }

  start() {
    return this.json("start");
  }

  /** @param {string} run @param {number} models */
  describe(run, models) {
    return this.json(`runs/${run}?models=${models}`);
  }

  /** @param {string} run @param {number} number */
  async slice(run, number) {
    const buffer = await (await this.ask(`runs/${run}/slices/${number}`)).arrayBuffer();
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    return { ...header, data: await inflated(new Uint8Array(buffer, 4 + length)) };
  }
}

/** A run that was recorded into the page. */
export class RecordedSource {
  /** @param {string} text */
  constructor(text) {
    this.recorded = true;
    this.content = JSON.parse(text);
  }

  async start() {
    return { run: "recorded", options: [] };
  }

  async describe() {
    return this.content.run;
  }

  /** @param {string} _run @param {number} number */
  async slice(_run, number) {
    const { content, ...header } = this.content.slices[number];
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    return { ...header, data: await inflated(bytes) };
  }

  /** What the recording says about a field. @param {string} name @param {string} value */
  writers(name, value) {
    const { writers, neurons } = this.content.run.weights ?? {};
    return (writers?.[name]?.[value] ?? []).map((/** @type {number[]} */ [at, coefficient]) => ({ ...neurons[at], coefficient }));
  }

  /** A head's score at a distance, and undefined where it depends on more. @param {number} head @param {number} distance */
  score(head, distance) {
    const known = (this.content.run.weights?.scores ?? []).find((/** @type {any} */ entry) => entry?.head === head);
    return known ? (known.by_distance[distance] ?? 0) : undefined;
  }

  /** @param {string} path @returns {Promise<any>} */
  async json(path) {
    throw new Refused([{ what: `a recorded page has no ${path.split("/").at(-1)?.split("?")[0]}` }]);
  }
}

/** The recording of the page, or else its server. */
export function findSource() {
  const recorded = document.getElementById("recorded");
  return recorded ? new RecordedSource(recorded.textContent ?? "") : new ServerSource();
}
