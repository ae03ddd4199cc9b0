// results.js - cards with the results of operations: command, exit status in words, messages, text, outputs.
import { button, element } from './elements.js';
import { commandLine, counted, sizeOf } from './words.js';
import { accepts, openInPerfetto, opens } from './perfetto.js';

const MOST_SHOWN = 400000; // characters of text that a card shows
const STATUS = { 0: ['Done', ''],
  1: ['Nothing matched, a check failed, or a clock is unreliable (status 1)', 'warn'],
  2: ['The command is invalid (status 2)', 'bad'],
  3: ['An input cannot be read, or a limit was exceeded (status 3)', 'bad'],
  4: ['The output cannot be written (status 4)', 'bad'] };
const KINDS = { note: 'note', fact: 'fact', repair: 'repair', lost: 'loss', loss: 'loss', hint: 'note', warning: 'repair' };

/** Returns the kind of a message: "FILE: repair: TEXT" is a repair; others are faults if the command failed. */
function kindOf(text, failed) {
  const word = /(?:^|: )(note|fact|repair|lost|loss|hint|warning): /.exec(text)?.[1];
  return KINDS[word] ?? (failed ? 'fault' : 'note');
}

function messageItem(text, failed) {
  const kind = kindOf(text, failed), words = text.replace(/^tracekit: /, '');
  return element('li', { class: kind }, kind === 'fault' && element('b', {}, 'Error:'), words);
}

/** Shows lines of standard error: messages as a list, tables and summaries as text. */
function messages(lines, failed) {
  const parts = [];
  for (const line of lines) {
    const message = line.startsWith('tracekit: '), last = parts.at(-1);
    if (last?.message === message) last.lines.push(line);
    else parts.push({ message, lines: [line] });
  }
  return parts.map(part => part.message ? element('ul', { class: 'messages', 'aria-label': 'Messages' },
    ...part.lines.map(line => messageItem(line, failed)))
    : textBox(part.lines.join('\n'), 'Summary'));
}

const textBox = (text, label) => element('pre', { class: 'text', tabindex: '0', role: 'group', 'aria-label': label }, text);

/** Returns a frame for a page or drawing of the command, in which nothing can run. */
const frame = (html, title, drawing) => element('iframe',
  { sandbox: '', srcdoc: html, title, class: drawing ? 'drawing' : '' });

/** Returns the ending of a file with this text. */
function endingOf(text, args) {
  if (text.startsWith('<svg')) return 'svg';
  if (args.includes('--csv')) return 'csv';
  return text.startsWith('{') ? 'json' : 'txt';
}

export class Card {
  constructor({ title, runs, keep, forget }) {
    this.keep = keep; // adds an output to the traces
    this.runs = runs.map(args => ({ args, lines: [], stdout: null, status: null, fault: null }));
    this.urls = [];
    this.body = element('div', {});
    this.outcome = element('span', { class: 'outcome' });
    this.heading = element('h3', { tabindex: '-1' }, title);
    this.element = element('article', { class: 'card', 'aria-label': `${title}, result` },
      element('header', {}, this.heading, button('Remove', () => { this.remove(); forget(); },
        { 'aria-label': `Remove the result of ${title}` })),
      element('p', {}, this.outcome), this.body);
  }

  hear(message) {
    const run = this.runs[message.index];
    if (message.type === 'message') run.lines.push(message.text);
    if (message.type === 'end') Object.assign(run, message);
    if (message.type === 'fault') run.fault = message;
  }

  /** Returns the outcome of all runs: words and a class. */
  verdict() {
    const fault = this.runs.find(run => run.fault)?.fault, worst = Math.max(...this.runs.map(run => run.status ?? 0));
    if (fault) return [`Stopped: ${fault.cause}`, 'bad'];
    const [words, look] = STATUS[worst] ?? [`Ended with status ${worst}`, 'bad'],
      failed = this.runs.filter(run => run.status).length;
    return [this.runs.length > 1 && failed ? `${words}; ${failed} of ${this.runs.length} commands` : words, look];
  }

  async show(files) {
    const [words, look] = this.verdict(), seconds = this.runs.reduce((n, run) => n + (run.seconds ?? run.fault?.seconds ?? 0),
      0);
    const memory = Math.max(...this.runs.map(run => run.memory ?? 0));
    this.words = words;
    this.outcome.className = `outcome ${look}`;
    this.outcome.textContent = words;
    this.outcome.after(element('small', { class: 'hint' },
      ` ${seconds.toFixed(1)} s${memory ? `, ${sizeOf(memory)} of memory` : ''}`));
    for (const run of this.runs) this.body.append(...await this.runParts(run, !files.length));
    if (files.length) this.body.append(element('ul', { class: 'outputs', 'aria-label': 'Outputs' },
      ...files.map(file => this.output(file))));
    await this.preview(files);
  }

  async runParts(run, saves) {
    const parts = [textBox(commandLine(run.args), 'Command line')], failed = run.status > 1 || run.fault;
    parts[0].classList.add('command-line');
    parts.push(...messages(run.lines, failed));
    if (run.fault) parts.push(element('p', { class: 'error' }, `Stopped ${run.fault.place}: ${run.fault.cause}.`),
      element('p', { class: 'hint' }, run.fault.text));
    if (run.causes?.length)
      parts.push(element('p', { class: 'error' },
        `The browser reports: ${[...new Set(run.causes)].join('; ')}. If a file was changed or moved, add it again.`));
    if (run.lines.some(line => /out of memory|failed to get memory/.test(line)))
      parts.push(element('p', { class: 'hint' },
        'A page gets less memory than a command: close other tabs, or run the command line natively.'));
    if (run.stdout?.size) parts.push(...await this.text(run, saves));
    return parts;
  }

  /** Shows standard output, and offers to save it if it is the only output. */
  async text(run, saves) {
    const text = await run.stdout.slice(0, MOST_SHOWN).text(), name = `${run.args[0]}.${endingOf(text, run.args)}`;
    const whole = run.stdout.size <= MOST_SHOWN, list = element('ul', { class: 'outputs', 'aria-label': 'Output as a file' },
      this.output({ path: name, file: run.stdout, onDisk: run.onDisk }));
    if (text.startsWith('<svg')) return [frame(`<style>svg{min-width:900px}</style>${await run.stdout.text()}`, 'Flame graph',
      true), list];
    if (whole && !saves) return [textBox(text, 'Output')];
    const rest = !whole && element('p', { class: 'hint' },
      `The first ${sizeOf(MOST_SHOWN)} of ${sizeOf(run.stdout.size)}; download the file for the rest.`);
    return [textBox(text, 'Output'), rest, list].filter(Boolean);
  }

  async preview(files) {
    const page = files.find(({ path }) => path.endsWith('.html'));
    if (page) this.body.append(frame(await page.file.text(), 'Report', false));
  }

  output({ path, file, onDisk }) {
    const url = URL.createObjectURL(file), name = path.split('/').pop();
    this.urls.push(url);
    const parts = [element('span', { class: 'name' }, path, element('small', {},
      `${sizeOf(file.size)}${onDisk ? ', on disk' : ''}`)),
      element('a', { class: 'button', href: url, download: name, 'aria-label': `Download ${path}` }, 'Download')];
    if (opens(path)) parts.push(this.viewer(file, name));
    if (!/\.(txt|svg|html|tsv|csv)$/.test(path))
      parts.push(button('Use as a trace', event => { event.target.disabled = true; this.keep(file, name); },
        { 'aria-label': `Use ${path} as a trace` }));
    return element('li', {}, ...parts);
  }

  viewer(file, name) {
    const says = element('span', { class: 'hint', role: 'status' });
    const open = button('Open in Perfetto UI', async () => {
      says.textContent = 'Waiting for ui.perfetto.dev.';
      await openInPerfetto(file, name).then(() => { says.textContent = 'Opened in another tab.'; },
        error => { says.textContent = `Error: ${error.message}.`; });
    }, { disabled: !accepts(), 'aria-label': `Open ${name} in Perfetto UI`,
      title: accepts() ? 'Passes the trace to ui.perfetto.dev in another tab of this browser'
        : 'Perfetto UI accepts no trace from a page that was opened as a file: download the trace, and open it there' });
    return element('span', { class: 'buttons' }, open, says);
  }

  /** Shows that the user ended the operation. */
  cancelled() {
    this.outcome.className = 'outcome warn';
    this.outcome.textContent = this.words = 'Cancelled; nothing was written';
    for (const run of this.runs) this.body.append(textBox(commandLine(run.args), 'Command line'),
      ...messages(run.lines, false));
  }

  remove() {
    for (const url of this.urls) URL.revokeObjectURL(url);
    this.element.remove();
  }
}

/** Returns a sentence for screen readers about outputs. */
export const outputsIn = files => files.length ? `, ${counted(files.length, 'file')}` : '';
