// words.js - texts: sizes, counts, names of files, and words of a command line.

export function sizeOf(bytes) {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  const power = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
}

export const counted = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;

// ---- command lines ----

const quoted = word => /^[\w./:=,@%+{}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Returns arguments as a line for a POSIX shell. */
export const commandLine = args => ['tracekit', ...args].map(quoted).join(' ');

/** Splits a line into words as a shell does, without expanding anything. Throws an Error if a quote is not closed. */
export function wordsOf(line) {
  const words = [];
  let word = null, quote = '';
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quote ? c === quote : c === '"' || c === "'") {
      quote = quote ? '' : c;
      word ??= '';
    } else if (c === '\\' && quote !== "'" && i + 1 < line.length) {
      word = (word ?? '') + line[++i];
    } else if (!quote && /\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + c;
    }
  }
  if (quote) throw new Error(`a quote (${quote}) is not closed`);
  return word === null ? words : [...words, word];
}

// ---- names of files ----

const ENDING = /(\.pt)?(\.trace)?(\.speedscope)?(\.xplane)?\.(json|trace|pftrace|perfetto-trace|pb|sqlite|rpd|db|pickle|pkl|zip|tar|tgz|7z|html?)(\.(gz|zst|xz|bz2))?$/i;

/** Returns the name of a file without folder and ending: "logs.zip:a/rank0.json.gz" is "rank0". */
export function baseOf(path) {
  const name = path.split(/[/:]/).pop().replace(ENDING, '');
  return name.replace(/[^\w.-]+/g, '_').replace(/^[-.]+/, '') || 'trace';
}

/** Returns a name that is not in use: "rank0.json", then "rank0-2.json". */
export function freeName(name, taken) {
  if (!taken(name)) return name;
  const dot = name.indexOf('.', 1), base = dot < 0 ? name : name.slice(0, dot), ending = dot < 0 ? '' : name.slice(dot);
  let n = 2;
  while (taken(`${base}-${n}${ending}`)) n++;
  return `${base}-${n}${ending}`;
}

/** Returns a path as the command takes it: a name that begins with "-" or "@" would mean something else. */
export const operand = path => /^[-@]/.test(path) ? `./${path}` : path;
