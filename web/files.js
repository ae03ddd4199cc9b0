// files.js - the files of a run in a worker: inputs are read from File objects by slices, and outputs above a limit move to
// files of the browser (OPFS), so that neither has to fit in memory.
import { File, Memory, Stream } from './memory.js';
import { ERRNO } from './wasi.js';

export const IN_MEMORY = 64 << 20; // outputs above this size move to the disk
const SLOTS = 8; // files on the disk that one run may write at a time
const SHORT = 64 << 10, LONG = 4 << 20; // bytes read at once: at random places, and in order

/** An input: a File object of the page, which is read through a window. */
export class InputFile extends File {
  constructor(blob, path, reads) {
    super();
    this.blob = blob;
    this.path = path;
    this.reads = reads; // last place that was read, for messages
    this.size = blob.size;
    this.window = new Uint8Array();
    this.from = 0;
  }

  slice(from, n) {
    try {
      return new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.blob.slice(from, from + n)));
    } catch (error) {
      throw new DOMException(`${this.path}: ${error.message || error.name || 'the file cannot be read'}`.replace(/\.+$/, ''),
        'NotReadableError');
    }
  }

  read(at, to) {
    const n = Math.max(0, Math.min(to.length, this.size - at));
    if (!n) return 0;
    const end = this.from + this.window.length;
    Object.assign(this.reads, { path: this.path, at });
    if (at < this.from || at + n > end) {
      this.window = this.slice(at, Math.max(n, at === end || !at ? LONG : SHORT));
      this.from = at;
    }
    const part = this.window.subarray(at - this.from, at - this.from + n);
    to.set(part);
    this.reads.at = at + part.length;
    return part.length;
  }

  resize() { throw new DOMException('inputs are read only', 'NoModificationAllowedError'); }
  write() { this.resize(); }
}

/** An output, in memory up to a limit, and then in a slot: a file on the disk, if one is free. */
export class OutputFile extends File {
  constructor(slots, limit) {
    super();
    this.slots = slots;
    this.limit = limit;
    this.slot = null;
  }

  moveToDisk() {
    this.slot = this.slots.pop() ?? null;
    if (!this.slot) {
      this.limit = Infinity;
      return;
    }
    this.slot.handle.truncate(0);
    this.slot.handle.write(this.data.subarray(0, this.size), { at: 0 });
    this.data = new Uint8Array();
  }

  resize(size) {
    if (!this.slot && size > this.limit) this.moveToDisk();
    if (!this.slot) {
      super.resize(size);
      return;
    }
    this.slot.handle.truncate(size);
    this.size = size;
    this.written = true;
  }

  read(at, to) { return this.slot ? this.slot.handle.read(to, { at }) : super.read(at, to); }

  write(at, from) {
    if (!this.slot && at + from.length > this.limit) this.moveToDisk();
    if (!this.slot) return super.write(at, from);
    const n = this.slot.handle.write(from, { at });
    this.size = Math.max(this.size, at + n);
    return n;
  }

  release() {
    if (!this.slot) return;
    this.slot.handle.truncate(0);
    this.slots.push(this.slot);
    this.slot = null;
  }
}

/** Standard output, which may be larger than memory, too. */
export class Printed extends Stream {
  constructor(file) {
    super();
    this.file = file;
  }

  write(_, from) { return this.file.write(this.file.size, from); }
}

/** Standard error: passes each complete line to a function. */
export class Lines extends Stream {
  constructor(heard) {
    super();
    this.heard = heard;
    this.text = '';
    this.decoder = new TextDecoder();
  }

  write(_, from) {
    const lines = (this.text + this.decoder.decode(from.slice(), { stream: true })).split('\n');
    this.text = lines.pop();
    for (const line of lines) this.heard(line);
    return from.length;
  }

  end() {
    if (this.text) this.heard(this.text);
    this.text = '';
  }
}

// Maps errors of browsers to errors of a system.
const NUMBERS = { NotReadableError: ERRNO.IO, NotFoundError: ERRNO.NOENT, SecurityError: ERRNO.ACCES,
  QuotaExceededError: ERRNO.NOSPC,
  NoModificationAllowedError: ERRNO.ACCES, RangeError: ERRNO.NOSPC };

/** A run of the command on these files. */
export class Program extends Memory {
  constructor(options, slots, limit) {
    super(options);
    this.slots = slots;
    this.limit = limit;
    this.causes = []; // errors of the browser behind errors that the command reports
  }

  createFile() { return new OutputFile(this.slots, this.limit); }
  discard(node) { node.release?.(); }

  guarded(call) {
    return (...args) => {
      try {
        return call(...args);
      } catch (error) {
        const number = NUMBERS[error.name];
        if (number === undefined) throw error;
        this.causes.push(error);
        return number;
      }
    };
  }

  fileCalls() {
    const calls = super.fileCalls();
    for (const name of ['fd_read', 'fd_pread', 'fd_write', 'fd_filestat_set_size', 'path_open', 'path_unlink_file',
      'path_rename'])
      calls[name] = this.guarded(calls[name]);
    return calls;
  }
}

// ---- files on the disk ----

/** Opens the slots of a run in a folder of its own. Returns an empty list if the browser offers none. */
export async function openSlots(path) {
  if (!path) return { folder: null, slots: [] };
  try {
    let folder = await navigator.storage.getDirectory();
    for (const name of path) folder = await folder.getDirectoryHandle(name, { create: true });
    const slots = [];
    for (let i = 0; i < SLOTS; i++) {
      const file = await folder.getFileHandle(`file${i}`, { create: true });
      slots.push({ file, handle: await file.createSyncAccessHandle() });
    }
    return { folder, slots };
  } catch {
    return { folder: null, slots: [] }; // private windows and pages from files have no such files
  }
}

/** Returns the contents of an output as a Blob, and closes its slot. */
export async function blobOf(node) {
  if (!node.slot) return new Blob([node.contents()]);
  const { file, handle } = node.slot;
  handle.truncate(node.size);
  handle.flush();
  handle.close();
  return file.getFile();
}

/** Removes the slots that no output uses. */
export async function closeSlots({ folder, slots }) {
  for (const { file, handle } of slots.splice(0)) {
    handle.close();
    await folder.removeEntry(file.name).catch(() => {});
  }
}
