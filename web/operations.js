// operations.js - the operations of the page as rows: their inputs, the fields of their forms, and how fields become arguments.
//
// inputs: 'each'    one run of the command for each selected trace
//         'all'     one run with all selected traces
//         'sources' one run with the files and folders as they were added, in which the command finds traces by itself
//         'two'     two traces, which have fields of their own
//         'none'    the arguments name them
// A field adds its option if it has a value; `value` is the first one. `output` returns the arguments for the outputs, whose names begin
// with a base: the name of the first input, unless the operation has one.
import { baseOf, operand, wordsOf } from './words.js';

const FORMATS = [
  ['json.gz', 'Chrome JSON, gzip'], ['json', 'Chrome JSON'], ['json.zst', 'Chrome JSON, zstd'], ['pftrace', 'Perfetto'],
  ['pftrace.gz', 'Perfetto, gzip'], ['xplane.pb', 'XPlane (JAX, TensorFlow, xprof)'], ['speedscope.json', 'speedscope'],
];
const KINDS = ['kernel', 'memcpy', 'memset', 'transfer', 'collective', 'op', 'module', 'runtime', 'python', 'step', 'annotation',
  'device', 'host', 'span', 'instant', 'counter', 'async'];
const GROUPS = ['name', 'cat', 'kind', 'rank', 'process', 'track', 'stream', 'step', 'phase', 'op', 'module'];

const plain = values => values.map(value => [value, value]);
const text = (id, label, option, rest = {}) => ({ id, label, option, type: 'text', ...rest });
const check = (id, label, option, rest = {}) => ({ id, label, option, type: 'check', ...rest });
const select = (id, label, option, options, rest = {}) => ({ id, label, option, type: 'select', options, ...rest });
const optional = options => [['', 'any'], ...plain(options)];

const format = (...first) => select('format', 'Format', null,
  [...FORMATS].sort((a, b) => first.indexOf(b[0]) - first.indexOf(a[0])));
const NO_LOSS = check('noloss', 'Fail if the format cannot represent all of the trace', '--no-loss', { more: true });
const STRICT = check('strict', 'Fail if the input needs repairs', '--strict', { more: true });

const EVENTS = [
  text('expr', 'Expression', '-e', { placeholder: 'dur > 1ms && kind == op', code: true,
    hint: 'Tests joined by &&, || and !, such as name ~ "*gemm*" or depth <= 2.' }),
  select('kind', 'Kind', '--kind', optional(KINDS)),
  text('time', 'Time range', '--time', { placeholder: '25%..75% or +2s..+5s', code: true }),
  text('step', 'Training steps', '--step', { placeholder: '3..5', code: true }),
  text('name', 'Name', '--name', { placeholder: '*kernel*', code: true, more: true,
    hint: 'The whole name; * and ? are wildcards.' }),
  text('mindur', 'Shortest duration', '--min-dur', { placeholder: '100us', code: true, more: true }),
  check('nopython', 'Remove Python stack frames', '--no-python', { more: true }),
];
const laterEvents = EVENTS.map(field => ({ ...field, more: true }));

const output = (suffix = '') => (values, base) => ['-o', `${base}${suffix}.${values.format}`];

const FOLD = check('fold', 'Combine names that differ only in numbers', '--fold');
const rows = (most, label = 'Rows') => text('top', label, '--top', { placeholder: most, code: true });

export const OPERATIONS = [
  {
    id: 'info', title: 'Info', inputs: 'all',
    about: 'Summarises each trace: events, tracks, steps, devices, repairs.',
    fields: [check('verbose', 'More: names, processes, clocks, metadata', '-v')],
  },
  {
    id: 'convert', title: 'Convert', inputs: 'each',
    about: 'Writes each trace in another format or compression.',
    fields: [format('json.gz', 'pftrace'), check('pretty', 'JSON: one event per line', '--pretty', { more: true }), NO_LOSS, STRICT],
    output: output(),
  },
  {
    id: 'merge', title: 'Merge', inputs: 'all', least: 2,
    about: 'Merges the traces of several ranks into one timeline, with aligned clocks.',
    fields: [
      format('json.gz'),
      select('align', 'Clocks', '--align', [['', 'choose automatically'], ['collectives', 'align by collectives'],
        ['clock', 'trust the clocks of the hosts'], ['start', 'let all ranks start together'], ['none', 'leave as they are']]),
      check('zero', 'Put the first event at time 0', '--to-zero'),
      check('links', 'Draw arrows to the ranks that waited', '--link-collectives'),
      check('clocks', 'Also write a report on the clocks', '--align-report=clocks.json'),
      text('to', 'Largest size', '--to', { placeholder: '100MB', code: true, more: true }),
      NO_LOSS,
    ],
    base: 'merged',
    output: output(),
  },
  {
    id: 'extract', title: 'Extract', inputs: 'sources',
    about: 'Finds the newest run in a log directory or archive, and writes it as one trace.',
    fields: [
      format('json.gz'),
      text('runname', 'Run', '--run', { placeholder: 'newest', code: true }),
      text('host', 'Host', '--host', { placeholder: 'all', code: true }),
      text('rank', 'Rank', '--rank', { placeholder: 'all', code: true }),
      check('split', 'One file for each host', '--split'),
      check('allruns', 'All runs', '--all'),
    ],
    output: (values, base) => values.split || values.allruns ? ['-f', shortFormat(values.format), '-o', `${base}.extracted/`]
      : output('.extracted')(values, base),
  },
  {
    id: 'split', title: 'Split', inputs: 'each',
    about: 'Writes several files: one for each step, rank or process, or parts of a length or size.',
    fields: [
      select('by', 'Split by', '--by', plain(['step', 'rank', 'process', 'time', 'size'])),
      text('every', 'Length or size of a part', '--every', { placeholder: '100ms or 10MB', code: true, hint: 'For time and size.' }),
      format('json.gz'),
    ],
    output: output('.{}'),
  },
  {
    id: 'filter', title: 'Filter', inputs: 'each',
    about: 'Keeps the events that pass all tests, as a valid trace.',
    fields: [
      ...EVENTS,
      select('keep', 'Also keep', '--keep', [['', 'nothing else'], ['parents', 'parents'], ['children', 'children'],
        ['flows', 'events connected by flows']], { more: true }),
      format('json.gz'),
    ],
    output: output('.filtered'),
  },
  {
    id: 'shrink', title: 'Shrink', inputs: 'each',
    about: 'Writes a file that is just within a size; the output lists the removed events.',
    fields: [
      text('to', 'Largest size', '--to', { placeholder: '100MB', code: true }),
      text('percent', 'or percentage of its size', '--percent', { placeholder: '20', code: true }),
      check('lossless', 'Keep all events, and write the smallest file', '--lossless'),
      check('hard', 'If needed, also remove kernels, collectives and steps', '--hard', { more: true }),
      text('keep', 'Never remove', '--keep', { placeholder: 'name ~ "*optimizer*"', code: true, more: true }),
      format('json.gz'),
    ],
    output: output('.small'),
  },
  {
    id: 'redact', title: 'Redact', inputs: 'each',
    about: 'Removes private text, such as paths, hosts and args. Read the output before you send it.',
    fields: [
      select('names', 'Names', '--names', [['', 'hash sensitive parts'], ['hash', 'hash whole names'], ['keep', 'keep unchanged']]),
      text('keepargs', 'Keep args', '--keep-args', { placeholder: 'stream', code: true }),
      check('numbers', 'Keep args that are not text', '--keep-numbers'),
      check('list', 'Also list the texts that were kept and changed (private)', null),
      format('json.gz'),
    ],
    output: (values, base) => [...output('.redacted')(values, base),
      ...values.list ? [`--redact-report=${base}.texts.tsv`] : []],
  },
  {
    id: 'report', title: 'Report', inputs: 'all',
    about: 'Shows where the time went, as a page: findings, utilization, steps, kernels, collectives.',
    fields: [select('as', 'Show as', null, [['html', 'page'], ['text', 'text'], ['json', 'JSON']]), ...laterEvents],
    base: 'report',
    output: (values, base) => ({ html: ['--html', `${base}.html`], json: ['--json'], text: [] })[values.as],
  },
  {
    id: 'top', title: 'Top', inputs: 'all',
    about: 'Ranks names or other groups by time.',
    fields: [
      select('by', 'Group by', '--by', [['', 'name'], ...plain(GROUPS.slice(1))]),
      select('sort', 'Sort by', '--sort', [['', 'total'], ...plain(['self', 'union', 'count', 'mean', 'max'])]),
      rows('30'), FOLD, ...laterEvents,
    ],
  },
  {
    id: 'tree', title: 'Tree', inputs: 'all',
    about: 'Shows time as a call tree or a flame graph.',
    fields: [select('as', 'Show as', null, [['text', 'text'], ['svg', 'flame graph']]), rows('60', 'Paths'), FOLD, ...laterEvents],
    output: values => values.as === 'svg' ? ['--svg'] : [],
  },
  {
    id: 'diff', title: 'Diff', inputs: 'two',
    about: 'Compares two runs: for each name, the time before and after, and the noise.',
    fields: [
      select('by', 'Group by', '--by', [['', 'name'],
        ...plain(['path', 'cat', 'process', 'track', 'stream', 'phase', 'op', 'module'])]),
      rows('30'), FOLD, check('whole', 'Compare whole ranks instead of steps', '--whole'), ...laterEvents,
    ],
  },
  {
    id: 'sql', title: 'SQL', inputs: 'all',
    about: 'Queries the traces with SQL, using the tables of Perfetto.',
    fields: [
      { id: 'query', label: 'Statements', option: '-e', type: 'area', code: true, required: true,
        value: 'SELECT name, count(*) AS n, sum(dur) / 1e6 AS ms\nFROM slice GROUP BY name ORDER BY ms DESC LIMIT 10' },
      select('as', 'Show as', null, [['', 'table'], ['--csv', 'CSV'], ['--jsonl', 'JSON lines']]),
    ],
    output: values => values.as ? [values.as] : [],
  },
  {
    id: 'size', title: 'Size', inputs: 'each',
    about: 'Shows what takes up space in each trace.',
    fields: [rows('10')],
  },
  {
    id: 'check', title: 'Check', inputs: 'all',
    about: 'Reads each trace completely, and reports whether it needs repairs.',
    fields: [text('assert', 'Also test', '--assert', { placeholder: 'device_busy > 50%', code: true })],
  },
  {
    id: 'command', title: 'Command', inputs: 'none',
    about: 'Runs any command of tracekit, such as help. {} is replaced by the selected traces.',
    fields: [text('line', 'tracekit', null, { code: true, required: true, value: 'help', placeholder: 'rebase {} --to-zero -o zero.json' })],
  },
];

const shortFormat = ending => ending.startsWith('xplane') ? 'xplane' : ending.startsWith('speedscope') ? 'speedscope' : ending;

/** Returns the arguments that a field adds. */
function fieldArguments(field, values) {
  const value = values[field.id];
  if (!field.option || !value) return [];
  if (field.type === 'check') return [field.option];
  return value.startsWith('-') && field.option.startsWith('--') ? [`${field.option}=${value}`] : [field.option, value];
}

function commandWords(values, inputs) {
  const words = wordsOf(values.line);
  if (words[0] === 'tracekit') words.shift();
  return words.flatMap(word => word === '{}' ? inputs.map(operand) : [word]);
}

/** Returns the reason why an operation cannot run, or ''. */
export function obstacle(operation, values, { selected, sources }) {
  const missing = operation.fields.find(field => field.required && !values[field.id].trim());
  const inputs = operation.inputs === 'sources' ? sources : selected;
  if (missing) return `${missing.label}: empty`;
  if (operation.inputs === 'none') return '';
  if (!sources.length) return 'Add a trace first';
  if (!inputs.length) return 'Select a trace first';
  if (inputs.length < (operation.least ?? 1)) return `Select at least ${operation.least} traces`;
  if (operation.inputs === 'two' && !(values.before && values.after)) return 'Choose two traces';
  return '';
}

/** Returns the arguments for outputs, none of which replaces an input or an output of another run. */
function outputArguments(operation, values, input, taken) {
  if (!operation.output) return [];
  const base = operation.base ?? baseOf(input), of = n => operation.output(values, n < 2 ? base : `${base}-${n}`);
  let n = 1;
  while (of(n).some(name => taken.has(name))) n++;
  for (const name of of(n)) if (name.includes('.')) taken.add(name);
  return of(n);
}

/** Returns the runs of an operation, each a list of arguments. */
export function runsOf(operation, values, { selected, sources }) {
  const options = operation.fields.flatMap(field => fieldArguments(field, values)), taken = new Set(sources);
  const run = inputs => [operation.id, ...inputs.map(operand), ...options,
    ...outputArguments(operation, values, inputs[0], taken)];
  switch (operation.inputs) {
    case 'each': return selected.map(input => run([input]));
    case 'two': return [run([values.before, values.after])];
    case 'sources': return [run(sources)];
    case 'none': return [commandWords(values, selected)];
    default: return [run(selected)];
  }
}
