// The engine, in a worker that is taken anew after a cancel.

const engineCode = byId('engine-code').textContent;
const workerUrl = URL.createObjectURL(new Blob([engineCode, byId('worker').textContent], { type: 'text/javascript' }));
const compiled = WebAssembly.compile(unpacked(byId('engine').textContent));

class Engine {
  #worker;
  #waiting = new Map();
  #next = 0;

  async #started() {
    const module = await compiled;
    if (!this.#worker) {
      this.#worker = new Worker(workerUrl);
      this.#worker.onmessage = ({ data }) => this.#heard(data);
      this.#worker.postMessage({ module });
    }
    return this.#worker;
  }

  #heard({ id, said, done, total }) {
    const one = this.#waiting.get(id);
    if (!one) return;
    if (!said) {
      one.progress?.(done, total);
      return;
    }
    this.#waiting.delete(id);
    one.resolve(said);
  }

  async ask(request, files = [], progress = undefined) {
    const worker = await this.#started();
    this.#next += 1;
    const id = this.#next;
    return new Promise((resolve) => {
      this.#waiting.set(id, { resolve, progress });
      worker.postMessage({ id, request, files });
    });
  }

  run(words, files = [], progress = undefined) {
    const request = { run: { words, files: files.map((file) => file.name) } };
    return this.ask(request, files.map((file) => file.bytes), progress);
  }

  get isBusy() {
    return this.#waiting.size > 0;
  }

  cancel() {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const one of this.#waiting.values()) one.resolve({ error: 'cancelled' });
    this.#waiting.clear();
  }
}

const questions = new Engine();
const checks = new Engine();
/** What is read: results, the catalogue, figures of machines. */
const documents = new Engine();
