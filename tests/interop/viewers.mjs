// viewers.mjs CHROMIUM PERFETTO_UI SPEEDSCOPE OUT WORD TRACE... - opens each trace in the two common viewers, in a headless browser, and
// saves a screenshot of each in OUT.
//
//   Perfetto UI   must show tracks, with WORD (a name in the trace) among them, and no error
//   speedscope    must show a profile (in the page's title), and no error
//
// Installs nothing and sends nothing to the network: the viewers are served from their packages, and the browser is controlled through
// its debugging pipe. Prints a line of JSON per trace; status 1 if one failed.
import {createServer} from 'node:http';
import {mkdirSync, readFileSync} from 'node:fs';
import {basename, extname, join, normalize} from 'node:path';
import {Browser} from './browser.mjs';

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
  await sleep(1500); // wait until it is drawn
  const shot = join(out, `${basename(traces[i])}.${viewer}.png`);
  await page.screenshot(shot);
  await page.close();
  return {viewer, trace: basename(traces[i]), ok: Boolean(seen.ready && !seen.error), ...seen, screenshot: shot};
}

mkdirSync(out, {recursive: true});
const server = createServer(serve);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = new Browser(chromium);
let failed = false;
for (let i = 0; i < traces.length; i++) {
  for (const viewer of Object.keys(VIEWERS)) {
    if (viewer === 'speedscope' && (process.env.ONLY === 'perfetto' || /pftrace/.test(traces[i]))) continue; // speedscope cannot read Perfetto
    const result = await open(browser, viewer, server.address().port, i);
    failed ||= !result.ok;
    console.log(JSON.stringify(result));
  }
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
