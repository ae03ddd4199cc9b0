// inputs.js - files and folders that the user adds, and their names in the command's file system.
import { freeName } from './words.js';

const MOST_FILES = 20000;

/** Reads all entries of a dropped folder, which come in parts. */
async function entriesOf(folder) {
  const reader = folder.createReader(), entries = [];
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return entries;
    entries.push(...part);
  }
}

const fileOf = entry => new Promise((resolve, reject) => entry.file(resolve, reject));

/** Adds the files of a dropped entry, at any depth, to a list of { path, file }. */
async function collect(entry, path, found) {
  if (found.length >= MOST_FILES) throw new Error(`more than ${MOST_FILES.toLocaleString('en')} files; choose the folder of a run`);
  if (entry.isFile) {
    found.push({ path, file: await fileOf(entry) });
    return;
  }
  for (const child of await entriesOf(entry)) await collect(child, `${path}/${child.name}`, found);
}

export class Inputs {
  constructor() {
    this.sources = []; // { name, files: [{ path, file }], bytes }
  }

  get names() { return this.sources.map(source => source.name); }
  get files() { return this.sources.flatMap(source => source.files); }
  get bytes() { return this.sources.reduce((n, source) => n + source.bytes, 0); }

  /** Adds a file or folder; paths of the files begin with its name, which changes if it is in use. */
  add(name, files) {
    if (!files.length) throw new Error(`${name}: the folder is empty`);
    const free = freeName(name, other => this.names.includes(other));
    const renamed = files.map(({ path, file }) => ({ path: free + path.slice(name.length), file }));
    this.sources.push({ name: free, files: renamed, bytes: files.reduce((n, { file }) => n + file.size, 0) });
    return free;
  }

  addFile(file, name = file.name) { return this.add(name, [{ path: name, file }]); }

  remove(name) { this.sources = this.sources.filter(source => source.name !== name); }
  clear() { this.sources = []; }

  /** Adds the files of a file dialog, which for a folder have paths. */
  addChosen(list) {
    const folders = new Map();
    for (const file of list) {
      const path = file.webkitRelativePath, folder = path.split('/')[0];
      if (!path) this.addFile(file);
      else if (folders.has(folder)) folders.get(folder).push({ path, file });
      else folders.set(folder, [{ path, file }]);
    }
    for (const [name, files] of folders) this.add(name, files);
  }

  /** Adds what was dropped. The browser lets go of the entries at the first wait, so they are taken before. */
  async addDropped(transfer) {
    const entries = [...transfer.items ?? []].map(item => item.webkitGetAsEntry?.()).filter(Boolean),
      plain = [...transfer.files];
    if (!entries.length) return this.addChosen(plain);
    for (const entry of entries) {
      const files = [];
      await collect(entry, entry.name, files);
      this.add(entry.name, files);
    }
    return undefined;
  }
}
