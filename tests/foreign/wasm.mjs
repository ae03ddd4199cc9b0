// wasm.mjs INDEX NATIVE FOLDER - compares run(), of the package's index.js, with the native command. The folder has four ranks.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [index, native, folder] = process.argv.slice(2);
const { run } = await import(pathToFileURL(index));
const work = mkdtempSync(join(tmpdir(), 'tracekit-wasm-'));
const ranks = Object.fromEntries([0, 1, 2, 3].map(i => `rank${i}.json.gz`).map(name => [name, readFileSync(join(folder, name))]));
let failed = 0;

function check(what, ok) {
  if (ok) return;
  failed++;
  console.log(`FAIL run(): ${what}`);
}

const names = Object.keys(ranks), first = names[0];
for (const [output, ...args] of [
  ['out.pftrace', 'convert', first], ['out.xplane.pb', 'convert', first], ['out.json.gz', 'merge', ...names],
  ['small.json.zst', 'shrink', first, '--percent', '20', '--level', '9'], ['ops.pftrace', 'filter', first, '-e', 'kind == op'],
]) {
  const path = join(work, output);
  execFileSync(native, [...args, '-q', '-o', path], { cwd: folder });
  const result = await run([...args, '-q', '-o', output], { files: ranks });
  check(`${args[0]}: status ${result.status}: ${result.stderr}`, result.status === 0);
  check(`${args[0]}: files ${Object.keys(result.files)}`, Object.keys(result.files).join() === output);
  check(`${args[0]}: bytes`, result.files[output] && Buffer.compare(result.files[output], readFileSync(path)) === 0);
}

const pipe = ['convert', '-', '-q', '-f', 'pftrace', '-o', '-'];
const piped = await run(pipe, { stdin: ranks[first] });
const bytes = execFileSync(native, pipe, { input: ranks[first], maxBuffer: 1 << 28 });
check('standard input and output', piped.status === 0 && Buffer.compare(piped.stdoutBytes, bytes) === 0);
const listed = await run(['list', 'logs'], { files: { 'logs/plugins/profile/run/host.trace.json.gz': ranks[first] } });
check(`folders: ${listed.stdout}`, listed.status === 0 && listed.stdout.includes('logs/plugins/profile/run/host.trace.json.gz'));
const split = await run(['split', first, '--by', 'size', '--size', '1MB', '-o', 'parts/p.json'], { files: ranks });
check(`no such folder: ${split.status} ${split.stderr}`, split.status !== 0 && Object.keys(split.files).length === 0);
const viewed = await run(['view', first], { files: ranks });
check(`view: ${viewed.status} ${viewed.stderr}`, viewed.status === 4 && viewed.stderr.includes('WebAssembly'));
rmSync(work, { recursive: true });
process.exitCode = failed ? 1 : 0;
