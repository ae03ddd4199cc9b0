// memory.js - the system calls that concern files, on files in memory. Needs nothing from node or a browser.
//
// There is one directory, "/", which is also the working directory. Standard input is given at the start, and standard output
// and error are collected. The page (web/) derives files of its own from File, whose bytes are elsewhere.
import { ALL_RIGHTS, DIRECTORY, ERRNO, OFLAG, APPEND, REGULAR, ROOT_FD, STREAM, Wasi, bytesOf } from './wasi.js';

const { OK, BADF, EXIST, INVAL, ISDIR, NOENT, NOTDIR, NOTEMPTY, NOTSUP, SPIPE } = ERRNO;
const encoder = new TextEncoder();

let inodes = 0n;

export class File {
  constructor(data = new Uint8Array()) {
    this.ino = ++inodes;
    this.data = data; // the first `size` bytes are the contents; the caller's array until the first write
    this.size = data.length;
    this.written = false;
  }

  resize(size) {
    if (!this.written || size > this.data.length) {
      const data = new Uint8Array(Math.max(size, this.written ? this.data.length * 2 : 0, 4096));
      data.set(this.data.subarray(0, Math.min(this.size, size)));
      this.data = data;
    }
    if (size < this.size) this.data.fill(0, size, this.size);
    this.written = true;
    this.size = size;
  }

  read(at, to) {
    const n = Math.max(0, Math.min(to.length, this.size - at));
    to.set(this.data.subarray(at, at + n));
    return n;
  }

  write(at, from) {
    if (!this.written || at + from.length > this.size) this.resize(Math.max(this.size, at + from.length));
    this.data.set(from, at);
    return from.length;
  }

  contents() { return this.data.subarray(0, this.size); }
}

export class Directory {
  constructor() {
    this.ino = ++inodes;
    this.entries = new Map();
  }
}

/** A pipe: what is read from it was given before, what is written to it is collected. */
export class Stream {
  constructor(data = new Uint8Array()) {
    this.ino = ++inodes;
    this.data = data;
    this.at = 0;
    this.chunks = [];
  }

  read(_, to) {
    const part = this.data.subarray(this.at, this.at + to.length);
    to.set(part);
    this.at += part.length;
    return part.length;
  }

  write(_, from) {
    this.chunks.push(from.slice());
    return from.length;
  }

  contents() {
    const all = new Uint8Array(this.chunks.reduce((n, chunk) => n + chunk.length, 0));
    let at = 0;
    for (const chunk of this.chunks) all.set(chunk, at), at += chunk.length;
    return all;
  }
}

const typeOf = node => node instanceof Directory ? DIRECTORY : node instanceof File ? REGULAR : STREAM;

/** Splits a path into its names. ".." stays within the root, as in "/". */
function namesOf(path) {
  const names = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name && name !== '.') names.push(name);
  }
  return names;
}

export class Memory extends Wasi {
  constructor({ args, env, files, stdin, stdout = new Stream(), stderr = new Stream() }) {
    super(args, env);
    this.root = new Directory();
    this.stdout = stdout;
    this.stderr = stderr;
    this.fds = [new Stream(bytesOf(stdin)), this.stdout, this.stderr, this.root].map(node => ({ node, at: 0, append: false }));
    for (const [path, value] of Object.entries(files)) this.add(path, value instanceof File ? value : new File(bytesOf(value)));
  }

  add(path, file) {
    const names = namesOf(path), last = names.pop();
    let folder = this.root;
    for (const name of names) {
      if (!folder.entries.has(name)) folder.entries.set(name, new Directory());
      folder = folder.entries.get(name);
      if (!(folder instanceof Directory)) throw new TypeError(`files: ${path}: a part of the path is a file`);
    }
    if (!last || folder.entries.has(last)) throw new TypeError(`files: ${path}: not the path of a new file`);
    folder.entries.set(last, file);
  }

  /** Returns the nodes of written files by path. */
  writtenNodes(folder = this.root, path = '', found = {}) {
    for (const [name, node] of folder.entries) {
      if (node instanceof Directory) this.writtenNodes(node, `${path}${name}/`, found);
      else if (node.written) found[path + name] = node;
    }
    return found;
  }

  /** Returns the contents of written files by path. */
  written() {
    return Object.fromEntries(Object.entries(this.writtenNodes()).map(([path, node]) => [path, node.contents()]));
  }

  createFile() { return new File(); }

  /** Called with a file that no longer has a name. */
  discard() {}

  // ---- files ----

  /** Finds a path below an open directory: { error } or { folder, name, node }, in which node may be undefined. */
  find(fd, at, n) {
    const open = this.fds[fd];
    if (!open) return { error: BADF };
    if (!(open.node instanceof Directory)) return { error: NOTDIR };
    const names = namesOf(this.text(at, n)), name = names.pop();
    let folder = open.node;
    if (!name) return { folder, name: '', node: folder };
    for (const part of names) {
      folder = folder.entries.get(part);
      if (!folder) return { error: NOENT };
      if (!(folder instanceof Directory)) return { error: NOTDIR };
    }
    return { folder, name, node: folder.entries.get(name) };
  }

  open(found, flags, append) {
    const exists = found.node !== undefined;
    if (found.error) return found;
    if (!exists && !(flags & OFLAG.CREAT)) return { error: NOENT };
    if (exists && flags & OFLAG.CREAT && flags & OFLAG.EXCL) return { error: EXIST };
    if (exists && flags & OFLAG.DIRECTORY && !(found.node instanceof Directory)) return { error: NOTDIR };
    if (exists && found.node instanceof Directory && flags & (OFLAG.CREAT | OFLAG.TRUNC)) return { error: ISDIR };
    const node = found.node ?? this.createFile();
    if (!exists) found.folder.entries.set(found.name, node), node.written = true;
    if (flags & OFLAG.TRUNC) node.resize(0);
    let fd = ROOT_FD + 1;
    while (this.fds[fd]) fd++;
    this.fds[fd] = { node, at: 0, append };
    return { fd };
  }

  transfer(fd, vectors, n, done, at, direction) {
    const open = this.fds[fd];
    let moved = 0;
    if (!open) return BADF;
    if (open.node instanceof Directory) return ISDIR;
    const begin = at ?? (direction === 'write' && open.append ? open.node.size : open.at);
    for (const part of this.vectors(vectors, n)) {
      const now = open.node[direction](begin + moved, part);
      moved += now;
      if (now < part.length) break;
    }
    if (at === undefined) open.at = begin + moved;
    this.put32(done, moved);
    return OK;
  }

  readFolder(folder, ...rest) {
    const entries = [...folder.entries].map(([name, node]) => ({ name, ino: node.ino, type: typeOf(node) }));
    return this.putEntries(entries, ...rest);
  }

  stat(at, node) {
    return this.putStat(at, { ino: node.ino, type: typeOf(node), size: BigInt(node instanceof File ? node.size : 0) });
  }

  seek(open, offset, whence, to) {
    if (open.node instanceof Stream) return SPIPE;
    const from = whence === 0 ? 0 : whence === 1 ? open.at : open.node.size ?? 0;
    const at = from + Number(offset);
    if (at < 0) return INVAL;
    open.at = at;
    this.put64(to, at);
    return OK;
  }

  remove(found, isFolder) {
    if (found.error) return found.error;
    if (!found.node || !found.name) return found.name ? NOENT : INVAL;
    if (found.node instanceof Directory !== isFolder) return isFolder ? NOTDIR : ISDIR;
    if (isFolder && found.node.entries.size) return NOTEMPTY;
    found.folder.entries.delete(found.name);
    this.discard(found.node);
    return OK;
  }

  rename(from, to) {
    if (from.error || to.error) return from.error || to.error;
    if (!from.node || !from.name || !to.name) return from.node ? INVAL : NOENT;
    if (to.node instanceof Directory) return from.node instanceof Directory && !to.node.entries.size ? EXIST : ISDIR;
    from.folder.entries.delete(from.name);
    to.folder.entries.set(to.name, from.node);
    if (to.node && to.node !== from.node) this.discard(to.node);
    return OK;
  }

  makeFolder(found) {
    if (found.error) return found.error;
    if (found.node) return EXIST;
    found.folder.entries.set(found.name, new Directory());
    return OK;
  }

  fileCalls() {
    const withFd = call => (fd, ...rest) => this.fds[fd] ? call(this.fds[fd], ...rest) : BADF;
    return {
      fd_close: withFd(open => (delete this.fds[this.fds.indexOf(open)], OK)),
      fd_fdstat_get: withFd((open, at) => this.putFdStat(at, typeOf(open.node), ALL_RIGHTS)),
      fd_fdstat_set_flags: withFd((open, flags) => (open.append = (flags & APPEND) !== 0, OK)),
      fd_filestat_get: withFd((open, at) => this.stat(at, open.node)),
      fd_filestat_set_size: withFd((open, size) => open.node instanceof File ? (open.node.resize(Number(size)), OK) : INVAL),
      fd_sync: withFd(() => OK),
      fd_tell: withFd((open, at) => open.node instanceof Stream ? SPIPE : (this.put64(at, open.at), OK)),
      fd_seek: withFd((open, offset, whence, to) => this.seek(open, offset, whence, to)),
      fd_readdir: withFd((open, at, room, cookie, used) =>
        open.node instanceof Directory ? this.readFolder(open.node, at, room, cookie, used) : NOTDIR),
      fd_read: (fd, vectors, n, done) => this.transfer(fd, vectors, n, done, undefined, 'read'),
      fd_pread: (fd, vectors, n, at, done) => this.transfer(fd, vectors, n, done, Number(at), 'read'),
      fd_write: (fd, vectors, n, done) => this.transfer(fd, vectors, n, done, undefined, 'write'),
      path_open: (fd, _, path, n, flags, _rights, _inherited, fdflags, at) => {
        const { error, fd: opened } = this.open(this.find(fd, path, n), flags, (fdflags & APPEND) !== 0);
        if (!error) this.put32(at, opened);
        return error ?? OK;
      },
      path_filestat_get: (fd, _, path, n, at) => {
        const { error, node } = this.find(fd, path, n);
        return error ?? (node ? this.stat(at, node) : NOENT);
      },
      path_create_directory: (fd, path, n) => this.makeFolder(this.find(fd, path, n)),
      path_remove_directory: (fd, path, n) => this.remove(this.find(fd, path, n), true),
      path_unlink_file: (fd, path, n) => this.remove(this.find(fd, path, n), false),
      path_rename: (fd, path, n, to, toPath, m) => this.rename(this.find(fd, path, n), this.find(to, toPath, m)),
      path_readlink: (fd, path, n) => this.find(fd, path, n).node ? INVAL : NOENT,
      path_filestat_set_times: () => OK,
      path_link: () => NOTSUP,
    };
  }
}
