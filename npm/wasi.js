// wasi.js - the system calls (WASI preview 1) that do not concern files, and access to the program's memory.

export const ERRNO = {
  OK: 0, ACCES: 2, AGAIN: 6, BADF: 8, BUSY: 10, DQUOT: 19, EXIST: 20, FBIG: 22, INTR: 27, INVAL: 28, IO: 29, ISDIR: 31, LOOP: 32,
  MFILE: 33, MLINK: 34, NAMETOOLONG: 37, NFILE: 41, NODEV: 43, NOENT: 44, NOMEM: 48, NOSPC: 51, NOSYS: 52, NOTDIR: 54,
  NOTEMPTY: 55, NOTSUP: 58, NXIO: 60, PERM: 63, PIPE: 64, ROFS: 69, SPIPE: 70, TXTBSY: 74, XDEV: 75,
};
export const UNKNOWN = 0, DEVICE = 2, DIRECTORY = 3, REGULAR = 4, STREAM = 6, LINK = 7;
export const OFLAG = { CREAT: 1, DIRECTORY: 2, EXCL: 4, TRUNC: 8 };
export const APPEND = 1, ALL_RIGHTS = 0x1fffffffn, ROOT_FD = 3;
const { OK, BADF } = ERRNO;

const encoder = new TextEncoder(), decoder = new TextDecoder();

export const bytesOf = value => typeof value === 'string' ? encoder.encode(value)
  : value instanceof ArrayBuffer ? new Uint8Array(value)
  : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);

/** Thrown by proc_exit, because a program cannot be left in any other way. */
class Exit {
  constructor(status) { this.status = status; }
}

/** Returns the call for arguments as WebAssembly passes them: addresses from 2 GiB on are negative. */
const unsigned = call => (...args) => call(...args.map(arg => typeof arg === 'number' ? arg >>> 0 : arg));

/** A process. A derived class adds the calls for files, fileCalls(). */
export class Wasi {
  constructor(args, env) {
    this.args = args.map(arg => encoder.encode(`${arg}\0`));
    this.environ = Object.entries(env).map(([key, value]) => encoder.encode(`${key}=${value}\0`));
  }

  /** Runs a module to its end. Returns the exit status. */
  run(module) {
    const calls = Object.entries({ ...this.calls(), ...this.fileCalls() }).map(([name, call]) => [name, unsigned(call)]);
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: Object.fromEntries(calls) });
    this.memory = instance.exports.memory;
    try {
      instance.exports._start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) return error.status;
      throw error;
    }
  }

  // ---- the program's memory, whose buffer is replaced when it grows ----

  view() { return new DataView(this.memory.buffer); }
  bytes(at, n) { return new Uint8Array(this.memory.buffer, at >>> 0, n >>> 0); }
  text(at, n) { return decoder.decode(this.bytes(at, n)); }
  put32(at, value) { this.view().setUint32(at >>> 0, value, true); }
  put64(at, value) { this.view().setBigUint64(at >>> 0, BigInt(value), true); }

  putStrings(strings, pointers, at) {
    for (const string of strings) {
      this.put32(pointers, at);
      this.bytes(at, string.length).set(string);
      pointers += 4;
      at += string.length;
    }
    return OK;
  }

  putSizes(strings, count, size) {
    this.put32(count, strings.length);
    this.put32(size, strings.reduce((n, string) => n + string.length, 0));
    return OK;
  }

  putStat(at, { dev = 0n, ino, type, links = 1n, size = 0n, times = [0n, 0n, 0n] }) {
    this.bytes(at, 64).fill(0);
    this.put64(at, dev);
    this.put64(at + 8, ino);
    this.view().setUint8(at + 16, type);
    this.put64(at + 24, links);
    this.put64(at + 32, size);
    times.forEach((time, i) => this.put64(at + 40 + 8 * i, time));
    return OK;
  }

  putFdStat(at, type, rights) {
    this.bytes(at, 24).fill(0);
    this.view().setUint8(at, type);
    this.put64(at + 8, rights);
    this.put64(at + 16, ALL_RIGHTS);
    return OK;
  }

  /** Writes entries { name, ino, type } of a folder, from number `cookie` on, as many as fit. */
  putEntries(entries, at, room, cookie, used) {
    const buffer = this.bytes(at, room);
    let end = 0;
    for (let i = Number(cookie); i < entries.length && end < buffer.length; i++) {
      const name = encoder.encode(entries[i].name), bytes = new Uint8Array(24 + name.length), view = new DataView(bytes.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setBigUint64(8, entries[i].ino, true);
      view.setUint32(16, name.length, true);
      view.setUint8(20, entries[i].type);
      bytes.set(name, 24);
      const part = bytes.subarray(0, buffer.length - end);
      buffer.set(part, end);
      end += part.length;
    }
    this.put32(used, end);
    return OK;
  }

  *vectors(at, n) {
    for (let i = 0; i < n; i++) {
      const view = this.view();
      yield this.bytes(view.getUint32(at + 8 * i, true), view.getUint32(at + 8 * i + 4, true));
    }
  }

  /** Reports every event as ready, because reads and writes wait by themselves. A pipe may be known to have no reader. */
  poll(subscriptions, events, n, count) {
    for (let i = 0; i < n; i++) {
      const view = this.view(), from = subscriptions + 48 * i, to = events + 32 * i;
      this.bytes(to, 32).fill(0);
      view.setBigUint64(to, view.getBigUint64(from, true), true);
      const type = view.getUint8(from + 8), CLOCK = 0;
      view.setUint16(to + 8, type === CLOCK ? OK : this.broken(view.getUint32(from + 16, true)), true);
      view.setUint8(to + 10, type);
    }
    this.put32(count, n);
    return OK;
  }

  /** Returns the error of the last write, if later ones cannot succeed. */
  broken() { return OK; }

  random(at, n) {
    const MOST = 65536;
    for (let i = 0; i < n; i += MOST) crypto.getRandomValues(this.bytes(at + i, Math.min(MOST, n - i)));
    return OK;
  }

  clock(id, at) {
    const ms = id === 0 ? Date.now() : performance.now();
    this.put64(at, BigInt(Math.round(ms * 1e6)));
    return OK;
  }

  calls() {
    return {
      args_get: (pointers, at) => this.putStrings(this.args, pointers, at),
      args_sizes_get: (count, size) => this.putSizes(this.args, count, size),
      environ_get: (pointers, at) => this.putStrings(this.environ, pointers, at),
      environ_sizes_get: (count, size) => this.putSizes(this.environ, count, size),
      clock_time_get: (id, _, at) => this.clock(id, at),
      random_get: (at, n) => this.random(at >>> 0, n >>> 0),
      poll_oneoff: (subscriptions, events, n, count) => this.poll(subscriptions >>> 0, events >>> 0, n, count),
      proc_exit: status => { throw new Exit(status); },
      fd_prestat_get: (fd, at) => fd === ROOT_FD ? (this.put32(at, 0), this.put32(at + 4, 1), OK) : BADF,
      fd_prestat_dir_name: (fd, at) => fd === ROOT_FD ? (this.bytes(at, 1).set([47]), OK) : BADF,
    };
  }
}
