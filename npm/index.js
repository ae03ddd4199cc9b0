// index.js - runs the command on files in memory, in node and in browsers.
import { Memory } from './memory.js';

const decoder = new TextDecoder();
let compiled;

async function load() {
  const url = new URL('./tracekit.wasm', import.meta.url);
  if (url.protocol !== 'file:') return WebAssembly.compileStreaming(fetch(url));
  const { readFile } = await import('node:fs/promises');
  return WebAssembly.compile(await readFile(url));
}

/** Compiles the program, once. */
const program = () => compiled ??= load().catch(error => {
  compiled = undefined;
  throw error;
});

export async function run(args, { files = {}, stdin = '', env = {}, module } = {}) {
  const memory = new Memory({ args: ['tracekit', ...args], env, files, stdin });
  const status = memory.run(module ?? await program());
  const stdoutBytes = memory.stdout.contents();
  return {
    status,
    stdout: decoder.decode(stdoutBytes),
    stderr: decoder.decode(memory.stderr.contents()),
    stdoutBytes,
    files: memory.written(),
  };
}
