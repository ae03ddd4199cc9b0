#!/usr/bin/env node
// tracekit.js - runs the command on the files of this machine.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { Disk } from '../disk.js';

const CRASHED = 70;

const module = new WebAssembly.Module(readFileSync(new URL('../tracekit.wasm', import.meta.url)));
try {
  process.exitCode = new Disk([basename(process.argv[1], '.js'), ...process.argv.slice(2)], process.env).run(module);
} catch (error) {
  process.stderr.write(`tracekit: stopped by a fault: ${error.message}\n`);
  process.exitCode = CRASHED;
}
