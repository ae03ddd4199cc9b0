// runner.js - runs commands in workers, with the program compiled once for all of them.
import { folderFor, forget } from './storage.js';

const byId = id => document.getElementById(id);
let loaded;

/** Returns the bytes of the program that a page of a single file contains, as base64 of gzip. */
async function embedded(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

async function fetched(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: the server answers with status ${response.status}`);
  return response;
}

/** Returns the compiled program, and the address of the script of workers. The page of a single file contains both. */
async function fetchAll() {
  const program = byId('program')?.textContent, script = byId('worker')?.textContent;
  const [bytes, text] = await Promise.all([program ? embedded(program)
    : fetched('tracekit.wasm').then(response => response.arrayBuffer()),
    script ?? fetched('worker.js').then(response => response.text())]);
  // Only a worker from a blob obeys the policy of the page, and needs no server later.
  const source = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  return { module: await WebAssembly.compile(bytes), source };
}

/** Loads the program. Rejects if it cannot be loaded; a later call tries again. */
export const load = () => loaded ??= fetchAll().catch(error => {
  loaded = undefined;
  throw error;
});

/** Commands that run in a worker of their own. `heard` gets each message of the worker. */
export class Run {
  constructor(runs, inputs, heard) {
    this.runs = runs;
    this.inputs = inputs;
    this.heard = heard;
    this.cancelled = false;
    this.keeps = false; // true if standard output is on the disk
  }

  async begin(limit) {
    const { module, source } = await load(), folder = await folderFor();
    if (this.cancelled) return;
    this.folder = folder;
    this.worker = new Worker(source);
    this.worker.onmessage = ({ data }) => this.hear(data, { module, runs: this.runs, inputs: this.inputs, folder, limit });
    this.worker.onerror = event => {
      event.preventDefault();
      this.heard({ type: 'fault', index: 0, place: 'before it began', cause: 'the browser cannot run the program',
        text: event.message ?? '' });
      this.finish([]);
    };
  }

  hear(message, job) {
    if (message.type === 'ready') this.worker.postMessage(job);
    else if (message.type === 'done') this.finish(message.files);
    else this.heard(message);
    this.keeps ||= message.onDisk === true;
  }

  finish(files) {
    this.worker.terminate();
    if (!this.keeps && !files.some(file => file.onDisk)) forget(this.folder);
    this.heard({ type: 'done', files });
  }

  cancel() {
    this.cancelled = true;
    this.worker?.terminate();
    forget(this.folder);
  }
}
