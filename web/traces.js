// traces.js - the table of traces: rows of `tracekit list`, and which of them are selected.
import { button, byId, element } from './elements.js';
import { counted, sizeOf } from './words.js';

const UNREADABLE = ['empty', 'corrupt', 'not a trace'];
const pathOf = row => row.file.replace(/^\.\//, '');
const sourceOf = (row, names) => {
  const path = pathOf(row);
  return names.find(name => path === name || path.startsWith(`${name}/`) || path.startsWith(`${name}:`)) ?? path;
};

/** The rows of the list, with `source`, the file or folder that was added, and `selected`. */
export class Traces {
  constructor({ changed, info, remove }) {
    this.rows = [];
    this.changed = changed;
    this.info = info;
    this.remove = remove;
  }

  get selected() { return this.rows.filter(row => row.selected).map(pathOf); }

  /** Takes the rows of `list --json`. New ones are selected if other commands would read them: the newest run of each folder. */
  set(rows, names) {
    const before = new Map(this.rows.map(row => [row.file, row.selected])), newest = new Map();
    this.rows = rows.map(row => ({ ...row, source: sourceOf(row, names) }));
    for (const row of this.rows) if (row.source === pathOf(row)) delete row.run; // a file alone belongs to no run
    for (const row of this.rows) {
      row.readable = !UNREADABLE.includes(row.health);
      if (row.readable && row.best && !newest.has(row.source)) newest.set(row.source, row.run);
      row.selected = before.get(row.file) ?? (row.readable && row.best && newest.get(row.source) === row.run);
    }
    this.show();
  }

  select(row, on) {
    row.selected = on;
    this.tick();
    this.changed();
  }

  /** Updates the checkbox of the whole table. */
  tick() {
    const all = byId('all-traces'), n = this.selected.length, readable = this.rows.filter(row => row.readable).length;
    if (!all) return;
    all.checked = n > 0 && n >= readable;
    all.indeterminate = n > 0 && n < readable;
  }

  why(row) {
    if (row.why) return `${row.health ? `${row.health}: ` : ''}${row.why}`;
    if (row.health && row.health !== 'ok') return row.health;
    return row.best ? '' : 'not read: a better file of the same session is';
  }

  row(row, shown) {
    const why = this.why(row), path = pathOf(row), size = row.size === undefined ? '' : sizeOf(row.size);
    const check = element('input', { type: 'checkbox', checked: row.selected, 'aria-label': `Select ${path}`,
      onchange: event => this.select(row, event.target.checked) });
    const cells = { run: row.run ?? '', host: row.host ?? '', rank: row.rank ?? '', format: row.format ?? '' };
    return element('tr', { class: row.readable && row.best ? '' : 'off' }, element('td', { class: 'check' }, check),
      element('td', { class: 'file' }, path, why && element('small', {}, why),
        element('small', { class: 'narrow' }, [row.rank !== undefined && `rank ${row.rank}`, row.format,
          size].filter(Boolean).join(', '))),
      ...shown.map(key => element('td', { class: key === 'rank' ? 'number minor' : 'minor' }, String(cells[key]))),
      element('td', { class: 'number minor' }, size),
      element('td', { class: 'number' }, button('Info', () => this.info(path),
        { 'aria-label': `Info about ${path}`, disabled: !row.readable }),
        ' ', row.source === path && button('×', () => this.remove(path), { 'aria-label': `Remove ${path}`, title: 'Remove' })));
  }

  show() {
    const shown = ['run', 'host', 'rank', 'format'].filter(key => this.rows.some(row => row[key] !== undefined
      && row[key] !== ''));
    const all = element('input', { type: 'checkbox', id: 'all-traces', 'aria-label': 'Select all traces',
      onchange: event => this.selectAll(event.target.checked) });
    const head = element('tr', {}, element('th', {}, all), element('th', {}, 'File'),
      ...shown.map(key => element('th', { class: key === 'rank' ? 'number minor' : 'minor' },
        key[0].toUpperCase() + key.slice(1))),
      element('th', { class: 'number minor' }, 'Size'), element('th', {}, element('span', { class: 'hidden' }, 'Actions')));
    const table = element('table', {}, element('thead', {}, head), element('tbody', {},
      ...this.rows.map(row => this.row(row, shown))));
    byId('list').replaceChildren(...this.rows.length
      ? [element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'List of traces' }, table)] : []);
    this.tick();
    this.changed();
  }

  selectAll(on) {
    for (const row of this.rows) row.selected = on && row.readable;
    this.show();
    byId('all-traces')?.focus();
  }

  /** Returns a sentence about the list. */
  summary(bytes) {
    const bad = this.rows.filter(row => !row.readable).length, good = this.rows.length - bad;
    if (!this.rows.length) return 'No traces yet.';
    return `${counted(good, 'trace')}, ${sizeOf(bytes)}${bad ? `; ${counted(bad, 'file')} cannot be read` : ''}.`;
  }
}
