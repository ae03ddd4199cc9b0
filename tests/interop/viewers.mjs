// viewers.mjs CHROMIUM PERFETTO_UI SPEEDSCOPE OUT WORD TRACE... - opens each trace in the two viewers that people use, in a browser
// without a window, and takes a screenshot of each into OUT.
//
//   Perfetto UI   shows tracks, and WORD (a name of the trace) among them, and no error
//   speedscope    shows a profile (it is in the page's title), and no error
//
// Nothing is installed and nothing leaves this machine: the viewers are served from their packages, and the browser is spoken to by
// its debugging pipe.  A line of JSON for each; status 1 if one failed.
import {spawn} from 'node:child_process';
import {createServer} from 'node:http';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {basename, extname, join, normalize} from 'node:path';
import {tmpdir} from 'node:os';

const [chromium, perfetto, speedscope, out, word, ...traces] = process.argv.slice(2);
const SECONDS = Number(process.env.SECONDS_TO_WAIT ?? 60);
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json'};
const roots = {perfetto, speedscope};

function serve(request, response) {
  const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
  const [, first, ...rest] = path.split('/');
  try {
    const named = first === 'trace' ? traces[Number(rest[0])] : first in roots ? join(roots[first], ...rest) : join(perfetto, path);
    const file = named.endsWith('/') ? named + 'index.html' : named, body = readFileSync(file);
    const type = first === 'trace' ? 'application/octet-stream' : TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, {'content-type': type, 'access-control-allow-origin': '*'}).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

// The browser's end of the debugging protocol: JSON, each message ended by a NUL.
class Browser {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'viewers-'));
    this.process = spawn(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe',
      '--window-size=1400,900', `--user-data-dir=${this.folder}`], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.waiting = new Map();
    this.id = 0;
    let text = '';
    this.process.stdio[4].on('data', (data) => {
      const parts = (text + data).split('\0');
      text = parts.pop();
      for (const message of parts.map((part) => JSON.parse(part))) {
        if (message.method === 'Page.javascriptDialogOpening') this.dialog(message);
        this.waiting.get(message.id)?.(message);
        this.waiting.delete(message.id);
      }
    });
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.id;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (m) => m.error ? reject(new Error(`${method}: ${m.error.message}`)) : resolve(m.result));
      this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    });
  }

  // speedscope says by alert() that it cannot read a file; nothing else is answered until that is dismissed.
  dialog({params, sessionId}) {
    this.alert = params.message;
    this.send('Page.handleJavaScriptDialog', {accept: true}, sessionId).catch(() => {});
  }

  async page(url) {
    this.alert = '';
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    const send = (method, params) => this.send(method, params, sessionId);
    await send('Page.enable');
    await send('Page.navigate', {url});
    return {
      evaluate: async (expression) => (await send('Runtime.evaluate', {expression, returnByValue: true})).result.value,
      screenshot: async (path) => writeFileSync(path, Buffer.from((await send('Page.captureScreenshot')).data, 'base64')),
      close: () => this.send('Target.closeTarget', {targetId}),
    };
  }

  close() {
    this.process.kill();
    return new Promise((resolve) => this.process.on('exit', () => {
      rmSync(this.folder, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
      resolve();
    }));
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const VIEWERS = {
  perfetto: {
    url: (port, i) => `http://127.0.0.1:${port}/#!/?url=http://127.0.0.1:${port}/trace/${i}/trace`,
    look: `(() => {
      const tracks = document.querySelectorAll('.pf-track, .track').length, text = document.body.innerText;
      const modal = document.querySelector('.pf-modal-dialog, .modal-dialog')?.innerText;
      return {ready: tracks > 1 && text.includes(${JSON.stringify(word)}), tracks, error: modal ?? '', title: document.title};
    })()`,
  },
  speedscope: {
    url: (port, i) => `http://127.0.0.1:${port}/speedscope/index.html#profileURL=http://127.0.0.1:${port}/trace/${i}/trace`,
    look: `(() => {
      const text = document.body.innerText, error = /something went wrong|unrecognized format|failed to/i.exec(text)?.[0] ?? '';
      return {ready: document.title !== 'speedscope' && /speedscope/.test(document.title), error, title: document.title};
    })()`,
  },
};

async function open(browser, viewer, port, i) {
  const page = await browser.page(VIEWERS[viewer].url(port, i));
  let seen = {};
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end && !seen.ready && !seen.error;) {
    await sleep(250);
    seen = await page.evaluate(VIEWERS[viewer].look) ?? {};
    seen.error ||= browser.alert;
  }
  await sleep(1500); // until it is drawn
  const shot = join(out, `${basename(traces[i])}.${viewer}.png`);
  await page.screenshot(shot);
  await page.close();
  return {viewer, trace: basename(traces[i]), ok: Boolean(seen.ready && !seen.error), ...seen, screenshot: shot};
}

mkdirSync(out, {recursive: true});
const server = createServer(serve);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = new Browser();
let failed = false;
for (let i = 0; i < traces.length; i++) {
  for (const viewer of Object.keys(VIEWERS)) {
    if (viewer === 'speedscope' && (process.env.ONLY === 'perfetto' || /pftrace/.test(traces[i]))) continue; // reads no Perfetto
    const result = await open(browser, viewer, server.address().port, i);
    failed ||= !result.ok;
    console.log(JSON.stringify(result));
  }
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
