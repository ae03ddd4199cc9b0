// runner.js - runs commands in workers, with the program compiled once for all of them.
import { folderFor, forget } from './storage.js';

const byId = id => document.getElementById(id);
let compiled, source;

/** Returns the bytes of the program that a page of a single file contains, as base64 of gzip. */
async function embedded(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

async function compile() {
  const data = byId('program');
  if (data) return WebAssembly.compile(await embedded(data.textContent));
  const response = await fetch('tracekit.wasm');
  if (!response.ok) throw new Error(`tracekit.wasm: the server answers with status ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Loads the program. Rejects if it cannot be loaded; a later call tries again. */
export const load = () => compiled ??= compile().catch(error => {
  compiled = undefined;
  throw error;
});

/** Starts a worker. Its script comes from a blob, because only such a worker obeys the policy of the page. */
function start() {
  const text = byId('worker')?.textContent, type = { type: 'text/javascript' };
  source ??= URL.createObjectURL(new Blob([text ?? `import ${JSON.stringify(new URL('worker.js', location.href).href)};`], type));
  return new Worker(source, { type: text ? 'classic' : 'module' });
}

/** Commands that run in a worker of their own. `heard` gets each message of the worker. */
export class Run {
  constructor(runs, inputs, heard) {
    this.runs = runs;
    this.inputs = inputs;
    this.heard = heard;
    this.cancelled = false;
  }

  async begin(limit) {
    const [module, folder] = [await load(), await folderFor()];
    if (this.cancelled) return;
    this.folder = folder;
    this.worker = start();
    this.worker.onmessage = ({ data }) => this.hear(data, { module, runs: this.runs, inputs: this.inputs, folder, limit });
    this.worker.onerror = event => {
      event.preventDefault();
      this.heard({ type: 'fault', index: 0, place: 'before it began', cause: 'the browser cannot run the program', text: event.message ?? '' });
      this.finish([]);
    };
  }

  hear(message, job) {
    if (message.type === 'ready') this.worker.postMessage(job);
    else if (message.type === 'done') this.finish(message.files);
    else this.heard(message);
  }

  finish(files) {
    this.worker.terminate();
    if (!files.some(file => file.onDisk)) forget(this.folder);
    this.heard({ type: 'done', files });
  }

  cancel() {
    this.cancelled = true;
    this.worker?.terminate();
    forget(this.folder);
  }
}
