// web.mjs KIND PROGRAM - tests the page in one browser: KIND is chromium or firefox. Prints a line for each case, and the measurements.
//
// Environment: SITE and SINGLE (dist/web and dist/tracekit.html), NATIVE (the command with the same deflater), FIXTURES, GEN, OUT.
// Every case requires that nothing but the page's own files is fetched and that the console stays empty. The command lines that the page
// shows are run by bash with the native command: text and files must be the same.
import {execFileSync, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync,
  truncateSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:https';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {Chromium, Firefox, sleep, until} from './browsers.mjs';
import {Page} from './page.mjs';
import {Server} from './server.mjs';

const [kind, program] = process.argv.slice(2);
const {SITE, SINGLE, NATIVE, FIXTURES, GEN, OUT, T = ''} = process.env, MB = Number(process.env.MB ?? 500);
const chromium = kind === 'chromium', work = mkdtempSync(join(tmpdir(), 'tracekit-web-')),
  ddp = join(FIXTURES, 'json/torch/ddp4_full');
const ranks = [0, 1, 2, 3].map((i) => join(ddp, `rank${i}.json.gz`));
let passed = 0, failed = 0;

function check(what, ok) {
  if (!ok) throw new Error(what);
}

const same = (what, found, expected) => check(`${what}: ${JSON.stringify(found)} is not ${JSON.stringify(expected)}`,
  JSON.stringify(found) === JSON.stringify(expected));

// ---- browsers and servers ----

function start(more = []) {
  const downloads = mkdtempSync(join(work, 'downloads-'));
  const rules = more.some((arg) => arg.startsWith('--host-resolver-rules')) ? []
    : ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
  return chromium ? new Chromium(program, downloads, [...rules, ...more]) : new Firefox(program, downloads);
}

/** Makes a file with some 160 MB of JSON. */
function mediumFile(name) {
  const path = join(work, name), to = openSync(path, 'w');
  spawnSync(GEN, ['kineto', '--spans', '400000'], {stdio: ['ignore', to, 'inherit']});
  return path;
}

/** Runs a case with a page of its own, and checks the console and the requests afterwards. */
async function test(name, action, {query = '', instead = {}, more = [], expected = null, single = false} = {}) {
  if (!name.includes(T)) return;
  const server = await new Server(SITE).start(), browser = start(more), begin = Date.now();
  for (const [path, body] of Object.entries(instead)) server.instead.set(path, body);
  let page = null;
  try {
    page = await Page.open(browser, single ? `file://${SINGLE}` : server.url + query);
    const words = await action(page, server, browser);
    const own = (url) => single ? /^(file|blob|data):/.test(url) : url.startsWith(server.url) || /^(blob|data):/.test(url)
      || url === 'about:blank';
    same('requests to others', [...new Set(browser.requests)].filter((url) => !own(url) && !expected?.test(url)), []);
    same('errors in the console', browser.faults.filter((fault) => !expected?.test(fault)), []);
    passed++;
    console.log(`ok   ${kind}: ${name}${words ? `: ${words}` : ''} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${kind}: ${name}: ${error.message}`);
    await page?.page.screenshot(join(OUT, `failed-${kind}-${name.replace(/\W+/g, '-')}.png`)).catch(() => {});
  }
  await browser.close();
  await server.stop();
}

// ---- the native command ----

/** Runs command lines of the page by bash in a folder with these inputs. Returns standard output and error, and the new files. */
function native(lines, inputs) {
  const folder = mkdtempSync(join(work, 'native-'));
  for (const input of inputs) cpSync(input, join(folder, basename(input)), {recursive: true});
  const before = new Set(readdirSync(folder, {recursive: true}));
  const run = spawnSync('bash', ['-c', `tracekit() { "${NATIVE}" "$@"; }\n${lines.join('\n')}`],
    {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'],
      env: {...process.env, PWD: '/', LC_ALL: 'C'}});
  const files = readdirSync(folder, {recursive: true}).filter((name) => !before.has(name)
    && statSync(join(folder, name)).isFile());
  return {folder, stdout: run.stdout, stderr: run.stderr, status: run.status, files: files.sort(),
    read: (name) => readFileSync(join(folder, name))};
}

const words = (texts) => texts.join('\n').split(/\s+/).filter(Boolean).sort().join(' ');

/** Runs an operation in the page and its command line natively, and compares text and files. */
async function compare(page, inputs, operation, values = {}, {random = false, status = 0} = {}) {
  const card = await page.run(operation, values), other = native(card.commands, inputs),
    label = `${operation} ${JSON.stringify(values)}`;
  check(`${label}: ${card.outcome} ${card.errors} ${card.messages}`, status ? card.outcome.includes(`status ${status}`)
    : card.outcome === 'Done');
  same(`${label}: status`, other.status, status);
  const shown = words([...card.texts, ...card.messages.map((text) => `tracekit: ${text.replace(/^Error:/, '')}`)]);
  const frames = card.frames.includes('Flame graph');
  if (random) check(`${label}: text`, words(card.texts).includes('redacted'));
  else if (!frames) check(`${label}: text\n${shown}\nis not\n${words([other.stdout, other.stderr])}`,
    shown === words([other.stdout, other.stderr]));
  else check(`${label}: drawing`, (await page.download('tree.svg')).toString() === other.stdout);
  if (other.files.length) same(`${label}: files`, [...card.paths].sort(), other.files);
  for (const name of random ? [] : other.files) {
    const found = await page.download(basename(name));
    check(`${label}: ${name}: ${found.length} bytes differ from ${other.read(name).length}`, found.equals(other.read(name)));
  }
  rmSync(other.folder, {recursive: true});
  return card;
}

// ---- cases ----

await test('list', async (page) => {
  check('the run button is disabled', await page.evaluate(`document.querySelector('#run').disabled`));
  const rows = await page.add(ranks), listed = JSON.parse(execFileSync(NATIVE, ['list', '--json', ...ranks])).files;
  same('files', rows.map((row) => row.file), listed.map((row) => basename(row.file)));
  check(`ranks and selection ${JSON.stringify(rows)}`, rows.every((row, i) => row.words.includes(`rank ${i}`)
    || new RegExp(`\\b${i}\\b.*json`).test(row.words.replace(/\s+/g, ' '))) &&
    rows.every((row) => row.on));
  await page.evaluate(`[...document.querySelectorAll('#list button')].find((b) => b.ariaLabel === 'Remove rank1.json.gz').click()`);
  await until('one less', 20, async () => (await page.evaluate(`document.querySelectorAll('#list tbody tr').length`)) === 3);
  await page.listed();
  const before = await page.cards();
  await page.evaluate(`[...document.querySelectorAll('#list button')].find((b) => b.ariaLabel === 'Info about rank0.json.gz').click()`);
  await until('info', 20, async () => (await page.cards()) > before);
  check('info', (await page.card()).texts.join().includes('15,511'));
  await page.click('#all-traces');
  same('none selected', (await page.listed()).filter((row) => row.on).length, 0);
  check('says what is missing', (await page.text('#obstacle')).includes('Select a trace'));
});

await test('convert, to each format', async (page) => {
  await page.add([ranks[0]]);
  const formats = await page.choose('convert').then(() =>
    page.evaluate(`[...document.querySelector('#field-format').options].map((o) => o.value)`));
  check(`formats ${formats}`, formats.length >= 7);
  for (const format of formats) await compare(page, [ranks[0]], 'convert', {format});
  await compare(page, [ranks[0]], 'convert', {format: 'json', pretty: true, strict: true});
  await compare(page, [ranks[0]], 'convert', {format: 'speedscope.json', noloss: true}, {status: 3});
});

// The fields of the forms: values, and the command line.
const LINES = [
  ['merge', {align: 'clock', zero: true, links: true, clocks: true, to: '1MB', noloss: true, format: 'pftrace'},
    'merge rank0.json.gz rank1.json.gz --align clock --to-zero --link-collectives --align-report=clocks.json --to 1MB --no-loss ' +
    '-o merged.pftrace'],
  ['extract', {runname: 'a', host: 'b', rank: '1', split: true, allruns: true, format: 'json'},
    'extract rank0.json.gz rank1.json.gz --run a --host b --rank 1 --split --all -f json -o rank0.extracted/'],
  ['filter', {expr: 'dur > 1ms', kind: 'op', time: '-1s..', step: '3..5', name: 'a*', mindur: '1us', nopython: true, keep: 'flows',
    format: 'json'}, ['rank0', 'rank1'].map((name) => `filter ${name}.json.gz -e 'dur > 1ms' --kind op --time=-1s.. --step 3..5 ` +
    `--name 'a*' --min-dur 1us --no-python --keep flows -o ${name}.filtered.json`)],
  ['redact', {names: 'keep', keepargs: 'a', numbers: true, list: true, format: 'json'}, ['rank0', 'rank1'].map((name) =>
    `redact ${name}.json.gz --names keep --keep-args a --keep-numbers -o ${name}.redacted.json --redact-report=${name}.texts.tsv`)],
  ['shrink', {to: '1MB', percent: '5', lossless: true, hard: true, keep: 'kind == op', format: 'json'}, ['rank0', 'rank1'].map((name) =>
    `shrink ${name}.json.gz --to 1MB --percent 5 --lossless --hard --keep 'kind == op' -o ${name}.small.json`)],
  ['top', {by: 'kind', sort: 'self', top: '7', fold: true, mindur: '2us'},
    'top rank0.json.gz rank1.json.gz --by kind --sort self --top 7 --fold --min-dur 2us'],
  ['diff', {by: 'op', top: '3', fold: true, whole: true, before: 'rank1.json.gz', after: 'rank0.json.gz'},
    'diff rank1.json.gz rank0.json.gz --by op --top 3 --fold --whole'],
  ['sql', {query: "SELECT 'a'", as: '--csv'}, "sql rank0.json.gz rank1.json.gz -e 'SELECT '\\''a'\\''' --csv"],
];
await test('command lines', async (page) => {
  await page.add(ranks.slice(0, 2));
  for (const [operation, values, lines] of LINES) {
    await page.choose(operation, values);
    same(operation, (await page.text('#line')).split('\n'), [lines].flat().map((line) => `tracekit ${line}`));
  }
});

await test('merge', async (page) => {
  await page.add(ranks);
  await compare(page, ranks, 'merge', {format: 'json.gz'});
  await compare(page, ranks, 'merge', {format: 'pftrace', align: 'collectives', zero: true, links: true, clocks: true});
  await compare(page, ranks, 'merge', {format: 'json.gz', to: '300KB'});
  await page.only(['rank2.json.gz']);
  await page.choose('merge');
  check('one trace is not enough', (await page.text('#obstacle')).includes('at least 2'));
});

await test('filter, shrink, split, redact', async (page) => {
  const input = [ranks[0]];
  await page.add(input);
  await compare(page, input, 'filter', {expr: 'dur > 1ms && kind == op'});
  await compare(page, input, 'filter', {kind: 'annotation', keep: 'parents', format: 'pftrace'});
  await compare(page, input, 'filter', {time: '25%..50%', step: '0..2', nopython: true, name: '*', mindur: '1us'});
  await compare(page, input, 'filter', {kind: 'kernel'}, {status: 1});
  await compare(page, input, 'shrink', {to: '30KB'});
  await compare(page, input, 'shrink', {percent: '20', hard: true, keep: 'kind == step', format: 'pftrace'});
  await compare(page, input, 'shrink', {lossless: true});
  await compare(page, input, 'shrink', {to: '10'}, {status: 2});
  await compare(page, input, 'split', {by: 'step'});
  await compare(page, input, 'split', {by: 'time', every: '100ms', format: 'pftrace'});
  await compare(page, input, 'redact', {keepargs: 'stream', numbers: true}, {random: true});
  await compare(page, input, 'redact', {names: 'hash', list: true}, {random: true});
});

await test('report, top, tree, diff, SQL, info, size, check', async (page) => {
  await page.add(ranks);
  await compare(page, ranks, 'report', {as: 'html'});
  check('the report is shown', (await page.card()).frames.includes('Report'));
  same('the frame is a sandbox', await page.evaluate(`document.querySelector('iframe').getAttribute('sandbox')`), '');
  await compare(page, ranks, 'report', {as: 'text', step: '0..1'});
  await compare(page, ranks, 'report', {as: 'json'});
  await compare(page, ranks, 'top', {by: 'rank', sort: 'self', top: '3', fold: true, kind: 'op'});
  await compare(page, ranks, 'tree', {as: 'text', top: '5', fold: true});
  await compare(page, ranks, 'tree', {as: 'svg'});
  await compare(page, ranks, 'diff', {top: '5', by: 'cat', whole: true, before: 'rank0.json.gz', after: 'rank3.json.gz'});
  await compare(page, ranks, 'info', {verbose: true});
  await compare(page, ranks, 'check');
  await compare(page, ranks, 'check', {assert: 'count(aten::mm) < 3'}, {status: 1});
  await page.only(['rank0.json.gz']);
  const query = `SELECT name, dur FROM slice WHERE name LIKE '%it''s%' OR dur > 1e6 ORDER BY dur DESC LIMIT 4;`;
  for (const as of ['', '--csv', '--jsonl']) await compare(page, [ranks[0]], 'sql', {query, as});
  await compare(page, [ranks[0]], 'sql', {query: 'SELECT nothing'}, {status: 3}).catch(async () => compare(page, [ranks[0]],
    'sql', {query: 'SELECT nothing'}, {status: 2}));
  await compare(page, [ranks[0]], 'size', {top: '2'});
});

await test('several traces, outputs as traces, other commands', async (page) => {
  await page.add(ranks);
  const card = await compare(page, ranks, 'convert', {format: 'pftrace'});
  same('four outputs', card.names.length, 4);
  await page.evaluate(`[...document.querySelectorAll('.card button')].find((b) => b.ariaLabel === 'Use rank2.pftrace as a trace').click()`);
  await until('five traces', 20, async () => (await page.evaluate(`document.querySelectorAll('#list tbody tr').length`)) === 5);
  await page.listed();
  await page.only(['rank2.pftrace']);
  const again = await page.run('convert', {format: 'pftrace'});
  same('does not replace an input', again.names, ['rank2-2.pftrace']);
  await page.only(['rank0.json.gz', 'rank1.json.gz']);
  await compare(page, ranks, 'command', {line: 'rebase rank0.json.gz --to-zero -o zero.json'});
  await compare(page, ranks, 'command', {line: 'tracekit top {} --csv --top 3'});
  check('help', (await page.run('command', {line: 'help merge'})).texts.join().includes('--align'));
  check('unknown', (await page.run('command', {line: 'mergee x'})).outcome.includes('status 2'));
  await page.choose('command', {line: 'info "x'});
  check('a quote', (await page.text('#obstacle')).includes('quote')
    && await page.evaluate(`document.querySelector('#run').disabled`));
  const cards = await page.cards();
  await page.evaluate(`[...document.querySelectorAll('.card > header button')][0].click()`);
  same('a result is removed', await page.cards(), cards - 1);
});

await test('folders and archives', async (page) => {
  const logs = join(work, `logs-${kind}`, 'logs'), run = join(logs, 'plugins/profile/2026_01_02');
  mkdirSync(run, {recursive: true});
  mkdirSync(join(logs, 'plugins/profile/2026_01_01'), {recursive: true});
  for (const i of [0, 1]) copyFileSync(ranks[i], join(run, `host${i}.trace.json.gz`));
  copyFileSync(ranks[2], join(logs, 'plugins/profile/2026_01_01/host0.trace.json.gz'));
  const rows = await page.addFolder(logs);
  same('rows', rows.length, 3);
  same('the newest run is selected', rows.filter((row) => row.on).map((row) => row.file),
    [0, 1].map((i) => `logs/plugins/profile/2026_01_02/host${i}.trace.json.gz`));
  await compare(page, [logs], 'extract', {});
  await compare(page, [logs], 'extract', {runname: '2026_01_01', format: 'pftrace'});
  await compare(page, [logs], 'extract', {split: true, allruns: true});
  await compare(page, [logs], 'top', {top: '2'});
  await page.clear();
  const zip = join(FIXTURES, 'nasty/archive/ranks.zip'), members = await page.add([zip]);
  same('members', members.map((row) => row.file), ['ranks.zip:rank0.json', 'ranks.zip:rank1.json.gz']);
  await compare(page, [zip], 'merge', {});
  await compare(page, [zip], 'convert', {format: 'pftrace'});
  if (chromium) {
    await page.clear();
    await page.evaluate(`document.querySelector('#traces-status').textContent = ''`);
    await page.page.drop([logs, zip], 200, 150);
    same('dropped', (await page.listed()).length, 5);
  }
});

await test('wrong files and odd names', async (page) => {
  const json = '[{"ph":"X","name":"<img src=x onerror=alert(1)>","ts":1,"dur":2,"pid":1,"tid":1}]', faults = {
    'empty.json': '', 'text.txt': 'no trace\n', 'broken.json': '[{"ph":"X","ts":', 'zip.zip': 'PK\u0003\u0004 but no archive'};
  for (const [name, text] of Object.entries(faults)) await page.dropContents(name, text);
  const rows = await page.listed();
  check(`reasons: ${JSON.stringify(rows)}`, rows.length === 4
    && rows.filter((row) => row.file !== 'broken.json').every((row) => row.why && !row.on));
  for (const name of Object.keys(faults)) {
    const card = await page.run('command', {line: `convert ${name} -o x.pftrace`});
    check(`${name}: ${card.outcome}`, /status [34]/.test(card.outcome) && card.messages.some((text) => text.includes(name))
      || name === 'broken.json');
  }
  await page.clear();
  const names = ['-v.json', '@list.json', "it's a trace.json", '<b>x<img src=x onerror=alert(2)>.json', 'ünï.json',
    '$(id).json'];
  for (const name of names) await page.dropContents(name, json);
  await page.dropContents('ünï.json', json);
  same('rows', (await page.listed()).map((row) => row.file).sort(), [...names, 'ünï-2.json'].sort());
  const card = await page.run('convert', {format: 'pftrace'});
  check(`${card.outcome}: ${card.messages}`, card.outcome === 'Done' && card.outputs.length === names.length + 1);
  const folder = mkdtempSync(join(work, 'odd-'));
  for (const name of [...names, 'ünï-2.json']) writeFileSync(join(folder, name), json);
  same('the command lines are right for a shell', native(card.commands,
    [...names, 'ünï-2.json'].map((name) => join(folder, name))).status, 0);
  check('names are text', (await page.run('report', {as: 'html'})).outcome === 'Done'
    && await page.evaluate(`!document.querySelector('#list img, .card img')`));
});

await test('a file that is changed after it was added', async (page) => {
  const path = join(work, `changing-${kind}.json`);
  copyFileSync(ranks[0], path);
  await page.add([path]);
  truncateSync(path, 1000);
  const card = await page.run('convert', {format: 'pftrace'});
  check(`${card.outcome} ${card.errors}`, /status 3|Stopped/.test(card.outcome) && card.errors.join().includes('add it again'));
  await page.clear();
  await page.add([ranks[0]]);
  same('the page stays usable', (await page.run('convert', {format: 'pftrace'})).outcome, 'Done');
  return card.errors.join();
});

await test('outputs on the disk', async (page) => {
  await page.add(ranks);
  const card = await compare(page, ranks, 'merge', {format: 'json'});
  check(`on disk: ${card.outputs}`, card.outputs[0].includes('on disk'));
  await compare(page, ranks, 'shrink', {to: '30KB'});
  await compare(page, ranks, 'split', {by: 'step', format: 'json'});
  const dumped = await page.run('command', {line: 'dump rank0.json.gz'});
  check(`dump: ${dumped.outputs}`, dumped.outputs[0].includes('on disk'));
  check('dump: bytes', (await page.download('dump.txt')).toString() === native(dumped.commands, ranks).stdout);
  const count = `(async () => { let n = 0; const root = await navigator.storage.getDirectory();
    for await (const folder of root.values()) for await (const run of folder.values()) n++; return n; })()`;
  check('folders in use', await page.evaluate(count) === 3);
  await page.evaluate(`[...document.querySelectorAll('.card > header button')].forEach((b) => b.click())`);
  await until('no folders', 10, async () => (await page.evaluate(count)) === 0);
}, {query: '?memory=100000'});

await test('cancel, and go on', async (page) => {
  await page.add([mediumFile('cancel.json')]);
  await page.choose('shrink', {to: '1MB'});
  await page.click('#run');
  await until('progress', 30, async () => (await page.evaluate(`document.querySelector('#progress').value`)) > 0);
  same('the focus is on Cancel', await page.evaluate('document.activeElement.id'), 'cancel');
  check('one at a time', (await page.text('#obstacle')).includes('running')
    && await page.evaluate(`document.querySelector('#run').disabled`));
  await page.click('#cancel');
  const card = await page.card();
  check(card.outcome, card.outcome.startsWith('Cancelled') && card.outputs.length === 0);
  await page.clear();
  await page.add([ranks[0]]);
  await compare(page, [ranks[0]], 'convert', {format: 'pftrace'});
});

await test('the network is cut', async (page, server, browser) => {
  await until('the service worker', 30, () => page.evaluate(`navigator.serviceWorker.controller !== null`));
  await page.add([ranks[0]]);
  const url = server.url;
  await server.stop();
  await compare(page, [ranks[0]], 'convert', {format: 'pftrace'});
  await page.page.go(url);
  await page.ready();
  await page.add(ranks);
  await compare(page, ranks, 'merge', {format: 'json.gz'});
});

await test('from a file', async (page) => {
  await page.add(ranks);
  await compare(page, ranks, 'merge', {format: 'json.gz'});
  await compare(page, ranks, 'report', {as: 'html'});
  check('Perfetto UI is not offered',
    await page.evaluate(`[...document.querySelectorAll('.card button')].every((b) => b.textContent !== 'Open in Perfetto UI' || b.disabled)`));
}, {single: true});

await test('the policy also binds workers', async (page) => {
  await page.add([ranks[0]]);
  same('the page', await page.evaluate(`fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')`), 'refused');
  if (chromium) check('eval',
    await page.evaluate(`(() => { try { return eval('1') === 1; } catch { return false; } })()`) === false);
  check('scripts in the page', await page.evaluate(`(() => { const made = document.createElement('script'); made.textContent = 'window.ran = true';
    document.head.append(made); return window.ran !== true; })()`));
  const says = await page.text('#trouble');
  check(`the worker: ${says}`, says.includes('refused by the policy'));
}, {instead: {'/worker.js': `self.addEventListener('securitypolicyviolation', (event) => { self.violated = event.violatedDirective; });
  fetch('http://127.0.0.1:9/').then(() => 'sent', async () => { await new Promise((r) => setTimeout(r, 200)); return self.violated ? 'refused by the policy' : 'failed'; })
    .then((says) => { onmessage = () => postMessage({type: 'done', files: [], });
      postMessage({type: 'fault', index: 0, place: 'nowhere', cause: says, text: ''}); postMessage({type: 'done', files: []}); });`},
expected: /127\.0\.0\.1:9|eval|inline script|Content.Security.Policy/i});

await test('many files', async (page) => {
  const many = join(work, `many-${kind}`), files = [];
  mkdirSync(many);
  for (let i = 0; i < 150; i++) copyFileSync(ranks[i % 4], files[i] = join(many, `r${i}.json.gz`));
  await page.add(files);
  const card = await page.run('convert', {format: 'pftrace'}, 300);
  same(`${card.outcome}`, [card.outcome, card.names.length], ['Done', 150]);
});

const TRAP = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 19, 2, 6, 109, 101,
  109, 111, 114, 121, 2, 0, 6, 95, 115, 116, 97,
  114, 116, 0, 0, 10, 5, 1, 3, 0, 0, 11]); // (memory (export "memory") 1) (func (export "_start") unreachable)
await test('a fault of the program', async (page) => {
  await page.dropContents('x.json', '[]');
  check(await page.text('#trouble'), (await page.text('#trouble')).includes('fault'));
  const card = await page.run('command', {line: 'info x.json'});
  check(card.outcome, card.outcome.startsWith('Stopped') && card.errors.join().includes('Stopped before'));
  await page.run('command', {line: 'help'});
}, {instead: {'/tracekit.wasm': TRAP}});

await test('no program', async (page) => {
  await until('trouble', 20, async () => (await page.text('#trouble')).includes('cannot be loaded'));
  return page.text('#trouble');
}, {instead: {'/tracekit.wasm': Buffer.from('<html>')}});

if (chromium) await test('no memory', async (page) => {
  await page.add([mediumFile('memory.json')]);
  const card = await page.run('shrink', {to: '1MB'});
  check(card.outcome, /status 3|Stopped/.test(card.outcome) && /memory/.test([...card.messages, ...card.errors].join()));
  await page.clear();
  await page.add([ranks[0]]);
  same('the page stays usable', (await page.run('convert', {format: 'pftrace'})).outcome, 'Done');
  return [...card.messages, ...card.errors].join(' ');
}, {more: ['--js-flags=--wasm-max-mem-pages=600']});

await test('keyboard and screen reader', async (page) => {
  const active = () => page.evaluate(`document.activeElement.id || document.activeElement.value || document.activeElement.textContent`);
  await page.page.key('Tab');
  check(`first ${await active()}`, (await active()).startsWith('Skip'));
  await page.page.key('Tab');
  same('second', await active(), 'choose-files');
  await page.add(ranks.slice(0, 2));
  await page.evaluate(`document.querySelector('#operations input:checked').focus()`);
  await page.page.key('ArrowRight');
  same('arrows choose', await page.evaluate(`document.querySelector('#operations input:checked').value`), 'merge');
  const seen = [];
  for (let i = 0; i < 12 && !seen.includes('run'); i++) {
    await page.page.key('Tab');
    seen.push(await active());
  }
  check(`Tab reaches the button: ${seen}`, seen.includes('run'));
  await page.page.key('Enter');
  await until('a result', 60, async () => (await page.cards()) === 1);
  await until('the focus moves to the result', 5, () => page.evaluate(`document.activeElement.tagName === 'H3'`));
  same('the status', await page.text('#status'), 'Done, 1 file.');
  same('live regions', await page.evaluate(`['traces-status', 'status', 'trouble'].map((id) => document.getElementById(id).getAttribute('role'))`), ['status', 'status', 'alert']);
  if (chromium) same('controls without a name', await page.page.unnamed(), []);
  same('inputs without a label',
    await page.evaluate(`[...document.querySelectorAll('input, select, textarea, iframe')].filter((e) => !(e.labels?.length || e.ariaLabel || e.title)).map((e) => e.id)`), []);
});

await test('looks', async (page) => {
  const shot = (name) => page.page.screenshot(join(OUT, `${kind}-${name}.png`));
  for (const [width, scheme] of [[360, 'light'], [1600, 'light'], ...chromium ? [[360, 'dark'], [1600, 'dark'], [768, 'light']]
    : []]) {
    await page.page.look(width, scheme);
    await page.clear();
    await page.evaluate(`[...document.querySelectorAll('.card > header button')].forEach((b) => b.click())`);
    await shot(`empty-${width}-${scheme}`);
    await page.add(ranks);
    await page.dropContents('empty.json', '');
    await page.run('filter', {kind: 'kernel'});
    await page.run('merge', {format: 'pftrace'});
    await page.run('report', {as: 'html'});
    await page.run('tree', {as: 'svg'});
    for (const operation of await page.evaluate(`[...document.querySelectorAll('#operations input')].map((e) => e.value)`)) {
      await page.choose(operation);
      await page.evaluate(`document.querySelectorAll('#form details').forEach((d) => { d.open = true; })`);
      const {over, wide, small} = await page.layout();
      check(`${operation}, ${width} px: ${over} too wide (${wide}), ${small} too small`, over <= 0 && !wide.length && !small);
    }
    await page.choose('filter');
    await sleep(500);
    await shot(`full-${width}-${scheme}`);
  }
});

// ---- Perfetto UI: a name of this machine, with a page that receives as the viewer does ----

const VIEWER = `<!DOCTYPE html><title>viewer</title><script>
addEventListener('message', async ({data, source, origin}) => {
  if (source !== opener) return;
  if (data === 'PING') return source.postMessage('PONG', origin);
  const hash = await crypto.subtle.digest('SHA-256', data.perfetto.buffer);
  document.title = [data.perfetto.title, data.perfetto.fileName, [...new Uint8Array(hash)].map((b) => b.toString(16).padStart(2, '0')).join('')].join(' ');
});</script>`;

async function viewerServer() {
  const key = join(work, 'key.pem'), cert = join(work, 'cert.pem');
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
    '-subj', '/CN=ui.perfetto.dev'], {stdio: 'ignore'});
  const server = createServer({key: readFileSync(key), cert: readFileSync(cert)},
    (_, response) => response.writeHead(200, {'Content-Type': 'text/html'}).end(VIEWER));
  // Firefox looks for local domains at the usual port, which may be taken or forbidden
  await new Promise((resolve) => server.on('error', resolve).listen(chromium ? 0 : 443, '127.0.0.1', resolve));
  return server;
}

const viewer = await viewerServer(), port = viewer.address()?.port;
if (port) {
  await test('Perfetto UI', async (page, _, browser) => {
    await page.add(ranks);
    const card = await compare(page, ranks, 'merge', {format: 'pftrace'});
    check('offered', card.buttons.includes('Open in Perfetto UI'));
    same('nothing was asked for before the click', browser.requests.filter((url) => url.includes('perfetto.dev')), []);
    const hash = createHash('sha256').update(await page.download('merged.pftrace')).digest('hex');
    await page.evaluate(`[...document.querySelectorAll('.card button')].find((b) => b.textContent === 'Open in Perfetto UI').click()`);
    await until('the viewer has the trace', 30, async () =>
      (await browser.titles()).includes(`merged.pftrace merged.pftrace ${hash}`));
    await until('the page reports it', 5, async () => (await page.text('.outputs [role=status]')).includes('Opened'));
  }, {more: [`--host-resolver-rules=MAP ui.perfetto.dev:443 127.0.0.1:${port}`, '--ignore-certificate-errors'],
    expected: /ui\.perfetto\.dev/});
  viewer.closeAllConnections();
  viewer.close();
} else {
  console.log('SKIPPED firefox: Perfetto UI: port 443 of this machine is taken or forbidden, and firefox needs it to take this machine for ui.perfetto.dev');
}

await test('a large file', async (page) => {
  const large = join(process.env.LARGE_FOLDER ?? work, `large-${MB}.json`);
  if (!existsSync(large)) {
    const to = openSync(large, 'w'), one = spawnSync(GEN, ['kineto', '--spans', '20000', '--compact'],
      {maxBuffer: 1 << 28}).stdout.length;
    spawnSync(GEN, ['kineto', '--compact', '--spans', String(Math.ceil(MB * 1.05e6 / one * 20000))],
      {stdio: ['ignore', to, 'inherit']});
  }
  const bytes = statSync(large).size;
  check(`${bytes} bytes`, bytes > MB * 1e6);
  await page.add([large]);
  await page.evaluate(`(() => { const bar = document.querySelector('#progress'); window.seen = []; setInterval(() => seen.push(bar.hasAttribute('value') ? bar.value : 0), 100); })()`);
  const begin = Date.now();
  const card = await page.run('shrink', {to: `${MB / 25}MB`, format: 'json.gz'}, 500), seconds = (Date.now() - begin) / 1000;
  check(`${card.outcome} ${card.errors} ${card.messages}`, card.outcome === 'Done');
  const seen = await page.evaluate('seen'), between = seen.filter((value) => value > 0 && value < 1).length;
  check(`the progress is shown: ${seen}`, between > 10);
  check(`the page stays responsive: ${seen.length} ticks in ${seconds} s`, seen.length > seconds * 4);
  const found = await page.download(card.names[0]), hash = (data) => createHash('sha256').update(data).digest('hex');
  const folder = mkdtempSync(join(work, 'large-'));
  spawnSync('bash', ['-c', `tracekit() { "${NATIVE}" "$@"; }\n${card.commands[0].replace(basename(large), large)}`],
    {cwd: folder});
  same('bytes', hash(found), hash(readFileSync(join(folder, card.names[0]))));
  const says = await page.evaluate(`document.querySelector('.card header ~ p').innerText`);
  return `${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s, ${(found.length / 1e6).toFixed(1)} MB written; the page reports: ${says.replace(/\s+/g, ' ')}`;
});

rmSync(work, {recursive: true, force: true});
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
