// worker.js - runs commands, one after another, in a worker that the page may end at any time.
//
// Receives one message: { module, runs, inputs, folder, limit }. Sends messages of these types:
//
//   begin     a run begins
//   progress  fields of the command's --progress=json, and the bytes that were read
//   message   a line of standard error
//   end       a run ended: status, standard output, memory, seconds
//   fault     a run was stopped by a fault of the program or the browser
//   done      all runs ended: the outputs
import { IN_MEMORY, InputFile, Lines, OutputFile, Printed, Program, blobOf, closeSlots, openSlots } from './files.js';

const PROGRESS = '{"phase": ';

/** Passes on a line of standard error: progress or a message. */
function hear(index, line, reads) {
  if (line.startsWith(PROGRESS)) {
    try {
      const progress = JSON.parse(line);
      reads.phase = progress.phase;
      return postMessage({ type: 'progress', index, ...progress });
    } catch { /* the line is a message after all */ }
  }
  return postMessage({ type: 'message', index, text: line });
}

/** Returns a sentence: the place at which the program stopped, and why. */
function describe(error, reads) {
  const place = reads.path ? `at ${reads.path}, byte ${reads.at.toLocaleString('en')}` : 'before reading a file';
  const text = `${error.name}: ${error.message}`;
  if (/recursion|call stack/i.test(text)) return { place, cause: 'the stack is full: events are nested too deeply', text };
  if (error instanceof RangeError || /out of memory|could not allocate|allocation/i.test(text))
    return { place, cause: 'the browser has no more memory for this page; close other tabs, or run the command natively',
      text };
  if (error instanceof WebAssembly.RuntimeError)
    return { place, cause: 'the program stopped with a fault; please report it, with this command', text };
  return { place, cause: 'the browser stopped the program', text };
}

class Job {
  constructor(job, disk) {
    this.job = job;
    this.disk = disk;
    this.outputs = new Map();
  }

  program(args, index, reads) {
    const files = {};
    for (const { path, file } of this.job.inputs) files[path] = new InputFile(file, path, reads);
    const stderr = new Lines(line => hear(index, line, reads));
    const limit = this.job.limit ?? IN_MEMORY, stdout = new Printed(new OutputFile(this.disk.slots, limit));
    return new Program({ args: ['tracekit', ...args], env: { NO_COLOR: '1' }, files, stdin: '', stdout, stderr },
      this.disk.slots, limit);
  }

  async run(args, index) {
    const reads = { path: '', at: 0, phase: '' }, program = this.program(args, index, reads), begin = performance.now();
    const seconds = () => (performance.now() - begin) / 1000;
    postMessage({ type: 'begin', index });
    try {
      const status = program.run(this.job.module);
      program.stderr.end();
      const { file } = program.stdout, onDisk = file.slot !== null;
      postMessage({ type: 'end', index, status, onDisk, stdout: await blobOf(file), seconds: seconds(),
        memory: program.memory.buffer.byteLength, causes: program.causes.map(cause => cause.message) });
    } catch (error) {
      program.stderr.end();
      postMessage({ type: 'fault', index, seconds: seconds(), ...describe(error, reads) });
      return;
    }
    for (const [path, node] of Object.entries(program.writtenNodes())) this.outputs.set(path, node);
  }

  async finish() {
    const files = [];
    for (const [path, node] of this.outputs) {
      const onDisk = node.slot !== null;
      files.push({ path, onDisk, file: await blobOf(node) });
      node.data = new Uint8Array();
    }
    await closeSlots(this.disk);
    postMessage({ type: 'done', files });
  }
}

onmessage = async ({ data }) => {
  try {
    const job = new Job(data, await openSlots(data.folder));
    for (const [index, args] of data.runs.entries()) await job.run(args, index);
    await job.finish();
  } catch (error) {
    postMessage({ type: 'fault', index: data.runs.length - 1, ...describe(error, { path: '', at: 0 }) });
    postMessage({ type: 'done', files: [] });
  }
};
postMessage({ type: 'ready' });
