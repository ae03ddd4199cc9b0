// disk.js - the system calls that concern files, on the files of this machine, with node.
//
// The only directory that the program gets is the root, so that it can open any path; it enters $PWD by itself. On Windows that
// is the root of the current drive.
import fs from 'node:fs';
import { parse } from 'node:path';
import { isatty } from 'node:tty';

import { ALL_RIGHTS, APPEND, DEVICE, DIRECTORY, ERRNO, LINK, OFLAG, REGULAR, ROOT_FD, STREAM, UNKNOWN, Wasi } from './wasi.js';

const { OK, BADF, INVAL, IO, ISDIR, NOTDIR, PIPE, SPIPE } = ERRNO;
const READ = 1n << 1n, WRITE = 1n << 6n, SEEK_AND_TELL = 1n << 2n | 1n << 5n, FOLLOW = 1;
const PERMISSIONS = 0o777, OWNER = 0o600;
const WAIT_MS = 10;

const typeOf = st => st.isFile() ? REGULAR : st.isDirectory() ? DIRECTORY : st.isSymbolicLink() ? LINK
  : st.isCharacterDevice() ? DEVICE : st.isFIFO() || st.isSocket() ? STREAM : UNKNOWN;

/** Returns the current directory as the program sees it: C:\traces is /traces. */
export function currentFolder() {
  const cwd = process.cwd();
  return '/' + cwd.slice(parse(cwd).root.length).replaceAll('\\', '/');
}

export class Disk extends Wasi {
  constructor(args, env) {
    super(args, { ...env, PWD: currentFolder() });
    this.root = parse(process.cwd()).root;
    this.allowed = PERMISSIONS; // permissions that all inputs have
    this.fds = [0, 1, 2].map(fd => ({ fd, inherited: true }));
    this.fds[ROOT_FD] = { path: this.root };
  }

  // ---- paths ----

  /** Returns a path of this machine. "/dev/fd/5" is the program's file 5, whose number differs here. */
  path(fd, at, n) {
    const path = this.text(at, n), from = this.fds[fd].path;
    const number = from === this.root && /^dev\/fd\/(\d+)$/.exec(path)?.[1];
    const open = number && this.fds[number];
    return open?.fd !== undefined ? `/dev/fd/${open.fd}` : from.endsWith('/') || from.endsWith('\\') ? from + path : `${from}/${path}`;
  }

  open(path, { flags, follow, rights, append }) {
    const { O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_RDONLY, O_WRONLY, O_RDWR, O_NOFOLLOW = 0, O_NOCTTY = 0 } = fs.constants;
    if (flags & OFLAG.DIRECTORY) {
      if (!fs.statSync(path).isDirectory()) return { error: NOTDIR };
      return { path };
    }
    const writes = (rights & WRITE) !== 0n, creates = (flags & OFLAG.CREAT) !== 0;
    const mode = (writes ? rights & READ ? O_RDWR : O_WRONLY : O_RDONLY) | (creates ? O_CREAT : 0) | (flags & OFLAG.EXCL ? O_EXCL : 0) |
      (flags & OFLAG.TRUNC ? O_TRUNC : 0) | (append ? O_APPEND : 0) | (follow ? 0 : O_NOFOLLOW) | O_NOCTTY;
    const open = { fd: fs.openSync(path, mode, 0o666 & this.allowed | OWNER), at: 0, path, creates };
    const st = fs.fstatSync(open.fd);
    if (st.isDirectory()) {
      fs.closeSync(open.fd);
      return writes ? { error: ISDIR } : { path };
    }
    open.seeks = st.isFile();
    if (!writes && st.isFile()) this.restrict(st.mode);
    return open;
  }

  /** Removes from all outputs the permissions that an input lacks, which WASI cannot express. */
  restrict(mode) {
    this.allowed &= mode;
    for (const open of this.fds)
      if (open?.creates) fs.fchmodSync(open.fd, fs.fstatSync(open.fd).mode & (this.allowed | OWNER) & PERMISSIONS);
  }

  rename(from, to) {
    const replaced = fs.statSync(to, { throwIfNoEntry: false });
    if (replaced?.isFile()) fs.chmodSync(from, replaced.mode & (this.allowed | OWNER) & PERMISSIONS);
    fs.renameSync(from, to);
    return OK;
  }

  // ---- reading and writing ----

  /** Moves bytes between a file and memory. Waits if a pipe or terminal is not ready. */
  move(open, part, at, write) {
    for (;;) {
      try {
        return (write ? fs.writeSync : fs.readSync)(open.fd, part, 0, part.length, at);
      } catch (error) {
        if (error.code === 'EOF') return 0;
        if (error.code !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      }
    }
  }

  transfer(open, vectors, n, done, at, write) {
    let moved = 0;
    if (open.fd === undefined) return ISDIR;
    for (const part of this.vectors(vectors, n)) {
      if (!part.length) continue;
      const now = this.move(open, part, at !== undefined ? at + moved : open.seeks ? open.at : null, write);
      if (at === undefined && open.seeks) open.at += now;
      moved += now;
      if (now < part.length) break;
    }
    this.put32(done, moved);
    return OK;
  }

  write(open, ...rest) {
    try {
      return this.transfer(open, ...rest, undefined, true);
    } catch (error) {
      open.broken = error.code === 'EPIPE';
      throw error;
    }
  }

  broken(fd) { return this.fds[fd]?.broken ? PIPE : OK; }

  seek(open, offset, whence, to) {
    if (!open.seeks) return SPIPE;
    const at = Number(offset) + (whence === 0 ? 0 : whence === 1 ? open.at : fs.fstatSync(open.fd).size);
    if (at < 0) return INVAL;
    open.at = at;
    this.put64(to, at);
    return OK;
  }

  close(fd) {
    const open = this.fds[fd];
    delete this.fds[fd];
    if (open.fd !== undefined && !open.inherited) fs.closeSync(open.fd);
    return OK;
  }

  // ---- descriptions ----

  stat(at, st) {
    return this.putStat(at, { dev: st.dev, ino: st.ino, type: typeOf(st), links: st.nlink, size: st.size,
      times: [st.atimeNs, st.mtimeNs, st.ctimeNs] });
  }

  fdStat(open, at) {
    if (open.fd === undefined) return this.putFdStat(at, DIRECTORY, ALL_RIGHTS);
    const terminal = isatty(open.fd);
    return this.putFdStat(at, terminal ? DEVICE : typeOf(fs.fstatSync(open.fd)), terminal ? ALL_RIGHTS & ~SEEK_AND_TELL : ALL_RIGHTS);
  }

  readFolder(open, at, room, cookie, used) {
    if (open.fd !== undefined) return NOTDIR;
    if (!cookie || !open.entries) {
      const entries = fs.readdirSync(open.path, { withFileTypes: true });
      open.entries = entries.map(entry => ({ name: entry.name, ino: 1n, type: typeOf(entry) }));
    }
    return this.putEntries(open.entries, at, room, cookie, used);
  }

  readLink(path, at, room, used) {
    const target = new TextEncoder().encode(fs.readlinkSync(path)).subarray(0, room);
    this.bytes(at, target.length).set(target);
    this.put32(used, target.length);
    return OK;
  }

  pathOpen(path, options, at) {
    const open = this.open(path, options);
    if (open.error) return open.error;
    let fd = ROOT_FD + 1;
    while (this.fds[fd]) fd++;
    this.fds[fd] = open;
    this.put32(at, fd);
    return OK;
  }

  // ---- the system calls ----

  /** Returns the call with failures of node as error numbers, and BADF for a file that is not open. */
  guarded(call) {
    return (fd, ...rest) => {
      if (!this.fds[fd]) return BADF;
      try {
        return call(fd, ...rest);
      } catch (error) {
        if (typeof error.code !== 'string') throw error;
        return ERRNO[error.code.slice(1)] ?? IO;
      }
    };
  }

  fileCalls() {
    const of = call => (fd, ...rest) => call(this.fds[fd], ...rest);
    const statOf = (path, flags) => (flags & FOLLOW ? fs.statSync : fs.lstatSync)(path, { bigint: true });
    const done = () => OK;
    const calls = {
      fd_close: fd => this.close(fd),
      fd_fdstat_get: of((open, at) => this.fdStat(open, at)),
      fd_fdstat_set_flags: done,
      fd_filestat_get: of((open, at) =>
        this.stat(at, open.fd === undefined ? fs.statSync(open.path, { bigint: true }) : fs.fstatSync(open.fd, { bigint: true }))),
      fd_filestat_set_size: of((open, size) => (fs.ftruncateSync(open.fd, Number(size)), OK)),
      fd_sync: of(open => (fs.fsyncSync(open.fd), OK)),
      fd_tell: of((open, at) => open.seeks ? (this.put64(at, open.at), OK) : SPIPE),
      fd_seek: of((open, offset, whence, to) => this.seek(open, offset, whence, to)),
      fd_readdir: of((open, ...rest) => this.readFolder(open, ...rest)),
      fd_read: of((open, vectors, n, moved) => this.transfer(open, vectors, n, moved, undefined, false)),
      fd_pread: of((open, vectors, n, at, moved) => this.transfer(open, vectors, n, moved, Number(at), false)),
      fd_write: of((open, vectors, n, moved) => this.write(open, vectors, n, moved)),
      path_open: (fd, lookup, path, n, flags, rights, _inherited, fdflags, at) => this.pathOpen(this.path(fd, path, n),
        { flags, rights, follow: lookup & FOLLOW, append: (fdflags & APPEND) !== 0 }, at),
      path_filestat_get: (fd, flags, path, n, at) => this.stat(at, statOf(this.path(fd, path, n), flags)),
      path_create_directory: (fd, path, n) => (fs.mkdirSync(this.path(fd, path, n)), OK),
      path_remove_directory: (fd, path, n) => (fs.rmdirSync(this.path(fd, path, n)), OK),
      path_unlink_file: (fd, path, n) => (fs.unlinkSync(this.path(fd, path, n)), OK),
      path_rename: (fd, path, n, to, toPath, m) => this.rename(this.path(fd, path, n), this.path(to, toPath, m)),
      path_link: (fd, _, path, n, to, toPath, m) => (fs.linkSync(this.path(fd, path, n), this.path(to, toPath, m)), OK),
      path_readlink: (fd, path, n, at, room, used) => this.readLink(this.path(fd, path, n), at, room, used),
      path_filestat_set_times: done,
    };
    return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, this.guarded(call)]));
  }
}
