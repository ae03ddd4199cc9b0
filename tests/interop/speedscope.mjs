// speedscope.mjs CHROMIUM SPEEDSCOPE OUT FILE... - imports profiles into speedscope in a headless browser, and saves what it exports of each
// as OUT/NAME.json. Prints a line of JSON per file; status 1 if one cannot be imported.
import {createServer} from 'node:http';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, extname, join, normalize} from 'node:path';
import {Browser} from './browser.mjs';

const [chromium, speedscope, out, ...files] = process.argv.slice(2);
const SECONDS = 30;
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css'};

function serve(request, response) {
  const [, first, ...rest] = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)).split('/');
  try {
    const file = first === 'file' ? files[Number(rest[0])] : join(speedscope, first, ...rest);
    response.writeHead(200, {'content-type': TYPES[extname(file)] ?? 'application/octet-stream'}).end(readFileSync(file));
  } catch {
    response.writeHead(404).end();
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const SAVE = `(() => {
  URL.createObjectURL = (blob) => { blob.text().then((text) => { window.exported = text; }); return ''; };
  HTMLAnchorElement.prototype.click = () => {}; // the link to the download
  [...document.querySelectorAll('div')].filter((div) => /^.{0,4}Export$/.test(div.innerText.trim())).pop()?.click();
})()`;

async function wait(browser, page, expression) {
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end && !browser.alert;) {
    const found = await page.evaluate(expression);
    if (found) return found;
    await sleep(100);
  }
  return undefined;
}

// The name of a file decides how speedscope reads some formats.
async function exportOf(browser, port, i) {
  const name = basename(files[i]);
  const page = await browser.page(`http://127.0.0.1:${port}/index.html#profileURL=http://127.0.0.1:${port}/file/${i}/${name}&title=${name}`);
  const error = /something went wrong|unrecognized format|failed to/i;
  const ready = await wait(browser, page, `${error}.exec(document.body.innerText)?.[0] ?? (/^(?!speedscope$).*speedscope/.test(document.title) && 'ready')`);
  if (ready === 'ready') await page.evaluate(SAVE);
  const text = ready === 'ready' ? await wait(browser, page, 'window.exported') : undefined;
  await page.close();
  if (text) writeFileSync(join(out, `${name}.json`), text);
  return {name, ok: Boolean(text), error: browser.alert || (ready === 'ready' ? '' : ready ?? 'nothing was shown')};
}

mkdirSync(out, {recursive: true});
const server = createServer(serve);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = new Browser(chromium);
let failed = false;
for (let i = 0; i < files.length; i++) {
  const result = await exportOf(browser, server.address().port, i);
  failed ||= !result.ok;
  console.log(JSON.stringify(result));
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
