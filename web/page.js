// page.js - the page: connects the traces, the form, the runs and the results.
import { Card, outputsIn } from './results.js';
import { Form } from './form.js';
import { Inputs } from './inputs.js';
import { OPERATIONS } from './operations.js';
import { Run, load } from './runner.js';
import { Traces } from './traces.js';
import { byId } from './elements.js';
import { forget } from './storage.js';
import { operand, sizeOf } from './words.js';

const inputs = new Inputs();
let current = null; // the operation that runs: { run, card }
let listing = null;

function complain(text) {
  byId('trouble').textContent = text;
  byId('trouble').hidden = !text;
}

/** Runs a command whose output the page reads. Resolves with the lines of standard error and the last message about its end. */
function runQuietly(args) {
  const lines = [];
  return new Promise((resolve, reject) => {
    let end = null;
    const run = listing = new Run([args], inputs.files, message => {
      if (message.type === 'message') lines.push(message.text);
      if (message.type === 'end' || message.type === 'fault') end = message;
      if (message.type === 'done') resolve({ ...end, lines });
    });
    run.begin().catch(reject);
  });
}

// ---- traces ----

const traces = new Traces({
  changed: () => form.refresh(),
  info: path => start(OPERATIONS[0], [['info', '-v', operand(path)]]),
  remove: path => add(() => inputs.remove(path)),
});
const form = new Form({ inputs: () => ({ selected: traces.selected, sources: inputs.names }), start });

/** Lists the inputs again. Of several calls, the last one counts. */
async function refresh() {
  listing?.cancel();
  byId('remove-all').hidden = !inputs.sources.length;
  if (!inputs.sources.length) {
    traces.set([], []);
    byId('traces-status').textContent = traces.summary(0);
    return;
  }
  byId('traces-status').textContent = 'Looking at the files.';
  const result = await runQuietly(['list', '--json', '--all', ...inputs.names.map(operand)]);
  if (result.type === 'fault') throw new Error(`list: stopped ${result.place}: ${result.cause} (${result.text})`);
  const text = await result.stdout.text();
  if (!text) throw new Error(result.lines.join('; ') || `list: status ${result.status}`);
  traces.set(JSON.parse(text).files, inputs.names);
  byId('traces-status').textContent = traces.summary(inputs.bytes);
}

/** Adds files, and shows what went wrong. */
async function add(action) {
  complain('');
  try {
    await action();
    await refresh();
  } catch (error) {
    complain(`The files cannot be listed: ${error.message}`);
    byId('traces-status').textContent = '';
  }
}

// ---- operations ----

function showProgress({ phase, name, index, of, done, total }) {
  const words = `${phase[0].toUpperCase()}${phase.slice(1)}${name ? ` ${name}` : ''}${of > 1 ? ` (${index} of ${of})` : ''}`;
  if (total) byId('progress').value = Math.min(1, done / total);
  else byId('progress').removeAttribute('value');
  byId('progress').setAttribute('aria-valuetext', total ? `${words}, ${Math.floor(100 * done / total)} %` : words);
  if (byId('status').textContent !== words) byId('status').textContent = words;
}

function setRunning(words) {
  byId('running').hidden = !words;
  form.setBusy(Boolean(words));
  if (words) byId('status').textContent = words;
  byId('progress').removeAttribute('value');
}

function hear(message) {
  const { card, runs } = current;
  if (message.type === 'begin') byId('status').textContent = runs > 1 ? `Running command ${message.index + 1} of ${runs}.`
    : 'Running.';
  else if (message.type === 'progress') showProgress(message);
  else if (message.type === 'done') finish(message.files);
  else card.hear(message);
}

async function finish(files) {
  const { card } = current, focused = document.activeElement, waits = focused === byId('cancel') || focused === document.body;
  current = null;
  complain('');
  setRunning('');
  await card.show(files);
  byId('cards').prepend(card.element);
  byId('status').textContent = `${card.words}${outputsIn(files)}.`;
  if (!waits) return; // the user does something else meanwhile
  card.heading.focus({ preventScroll: true });
  card.element.scrollIntoView({ block: 'nearest' });
}

/** Starts an operation, of which one runs at a time. */
async function start(operation, runs) {
  if (current) {
    complain('Another operation is running: wait for its end, or cancel it.');
    return;
  }
  complain('');
  let run = null;
  const card = new Card({ title: operation.title, runs, keep: (file, name) => add(() => inputs.addFile(file, name)),
    forget: () => forget(run.folder) });
  run = new Run(runs.map(args => withProgress(args)), inputs.files, hear);
  current = { run, card, runs: runs.length };
  setRunning('Starting.');
  byId('cancel').focus();
  await run.begin(limit).catch(error => {
    card.runs[0].fault = { place: 'before it began', cause: 'the program cannot be loaded', text: error.message };
    finish([]);
  });
}

const WITHOUT_PROGRESS = ['help', '--help', '-h', '--version', 'version', 'plan', undefined];
const withProgress = args => WITHOUT_PROGRESS.includes(args[0]) ? args : [args[0], '--progress=json', ...args.slice(1)];

function cancel() {
  if (!current) return;
  const { run, card } = current;
  current = null;
  run.cancel();
  setRunning('');
  card.cancelled();
  byId('cards').prepend(card.element);
  byId('status').textContent = `${card.words}.`;
  byId('run').focus();
}

// ---- the page ----

const limit = Number(new URLSearchParams(location.search).get('memory'))
  || undefined; // bytes of an output in memory, for tests

function listenToFiles() {
  for (const [click, chooser] of [['choose-files', 'files'], ['choose-folder', 'folder']]) {
    byId(click).onclick = () => byId(chooser).click();
    byId(chooser).onchange = event => {
      const chosen = [...event.target.files];
      event.target.value = '';
      add(() => inputs.addChosen(chosen));
    };
  }
  byId('cancel').onclick = cancel;
  byId('remove-all').onclick = () => add(() => { inputs.clear(); byId('choose-files').focus(); });
  addEventListener('beforeunload', event => { if (current) event.preventDefault(); });
  addEventListener('dragover', event => { event.preventDefault(); byId('drop').classList.add('over'); });
  addEventListener('dragleave', event => { if (!event.relatedTarget) byId('drop').classList.remove('over'); });
  addEventListener('drop', event => {
    event.preventDefault();
    byId('drop').classList.remove('over');
    add(() => inputs.addDropped(event.dataTransfer));
  });
}

async function describe() {
  const parts = ['This page loads only its own files, and sends nothing.'];
  if (location.protocol === 'file:') parts.push('It was opened from a file, so outputs stay in memory.');
  else if (navigator.serviceWorker) parts.push('It also works offline, once it was opened.');
  if (!('webkitdirectory' in byId('folder'))
    || /Android|iPhone|iPad/.test(navigator.userAgent)) byId('choose-folder').hidden = true;
  if (matchMedia('(pointer: coarse)').matches) byId('drop-words').hidden = true;
  const estimate = await navigator.storage?.estimate?.().catch(() => null);
  if (estimate?.quota && location.protocol !== 'file:') parts.push(`The browser lets it store ${sizeOf(estimate.quota - estimate.usage)} of outputs.`);
  byId('about').textContent = parts.join(' ');
}

listenToFiles();
describe();
if (location.protocol !== 'file:') navigator.serviceWorker?.register('sw.js').catch(() => {});
load().catch(error => complain(`The program cannot be loaded: ${error.message}`));
document.documentElement.dataset.ready = 'true';
