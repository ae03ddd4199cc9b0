// pages.mjs CHROMIUM OUT FILE... - opens each page or drawing from its file, in the width of a phone and of a screen, light and dark,
// and saves screenshots in OUT. A page must not fetch anything, report an error, overflow horizontally, or have unreadably small text.
// Timelines must zoom by keys and by dragging, and be whole on paper. Prints a line of JSON per file; status 1 if one failed.
import {mkdirSync} from 'node:fs';
import {basename, join} from 'node:path';
import {Browser} from './browser.mjs';

const [chromium, out, ...files] = process.argv.slice(2);
const LOOK = `(() => {
  const root = document.documentElement, elements = [...document.querySelectorAll('td, th, p, li, h1, h2, text')];
  const words = elements.filter((e) => e.textContent.trim() && e.getClientRects().length);
  return {over: root.scrollWidth - root.clientWidth, words: words.length,
          small: words.filter((e) => parseFloat(getComputedStyle(e).fontSize) < 11).length};
})()`;

const VIEWS = `[...document.querySelectorAll('#timelines svg')].map((s) => s.getAttribute('viewBox')).join()`;

// Returns the faults of zooming, if the page has timelines.
async function zoom(page) {
  const whole = await page.evaluate(VIEWS), faults = [];
  if (!whole) return faults;
  const key = async (name) => {
    for (const type of ['keyDown', 'keyUp']) await page.send('Input.dispatchKeyEvent', {type, key: name});
    return page.evaluate(VIEWS);
  };
  const expect = (holds, what) => { if (!holds) faults.push(what); };
  const width = (views) => Number(views.split(',')[0].split(' ')[2]);
  await page.evaluate(`document.getElementById('timelines').focus()`);
  const near = await key('+');
  expect(Math.abs(width(near) * 2 - width(whole)) < 1e-6, `+ shows ${near}`);
  expect((await page.evaluate(`document.getElementById('range').textContent`)).includes(' to '), 'no range is shown');
  expect(await key('ArrowRight') !== near, 'the arrows do not move');
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  expect(await page.evaluate(VIEWS) === whole, 'print is not whole');
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  expect(await key('Escape') === whole, 'Esc does not show everything');
  const box = await page.evaluate(`(() => { const s = document.querySelector('#timelines svg'); s.scrollIntoView({block: 'center'});
    const r = s.getBoundingClientRect(); return {x: r.left, y: r.top + r.height / 2, w: r.width}; })()`);
  const mouse = (type, at) => page.send('Input.dispatchMouseEvent', {type, x: box.x + at * box.w, y: box.y, button: 'left', clickCount: 1});
  await mouse('mousePressed', 0.25);
  await mouse('mouseReleased', 0.5);
  expect(Math.abs(width(await page.evaluate(VIEWS)) * 4 / width(whole) - 1) < 0.02, `dragging shows ${await page.evaluate(VIEWS)}`);
  return faults;
}

// Returns the faults of sorting, filtering and folding the first long table, and of widening a box of the flame graph.
async function tables(page) {
  return await page.evaluate(`(() => {
    const faults = [], expect = (holds, what) => { if (!holds) faults.push(what); };
    const shown = (table) => [...table.rows].slice(1).filter((row) => !row.hidden);
    const timed = (t) => [...t.rows[1].cells].findIndex((c, i) => i && / .?s$/.test(c.textContent));
    const table = [...document.querySelectorAll('table')].find((t) => t.rows.length > 16 && timed(t) > 0);
    if (table) {
      const tools = table.parentNode.previousElementSibling, [filter, button] = tools.children, all = table.rows.length - 1;
      const titles = [...table.rows[0].cells], k = timed(table);
      const texts = (i) => shown(table).map((row) => row.cells[i].textContent), first = texts(0).join();
      const seconds = (text) => parseFloat(text) * ({ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1})[text.split(' ')[1]];
      const falls = (v, sign) => v.every((x, i) => !i || sign * (v[i - 1] - x) >= 0);
      expect(shown(table).length === 10, shown(table).length + ' rows are not folded');
      button.click();
      expect(shown(table).length === all, 'unfolding shows ' + shown(table).length);
      titles[k].click();
      expect(falls(texts(k).map(seconds), 1), 'not sorted: ' + texts(k));
      titles[k].click();
      expect(falls(texts(k).map(seconds), -1), 'not sorted the other way: ' + texts(k));
      titles[k].click();
      button.click();
      expect(texts(0).join() === first, 'the order is lost');
      filter.value = table.rows[2].cells[0].textContent;
      filter.dispatchEvent(new Event('input'));
      expect(shown(table).length >= 1 && shown(table).every((r) => r.textContent.includes(filter.value)), 'the filter shows ' + texts(0));
      filter.value = '';
      filter.dispatchEvent(new Event('input'));
      dispatchEvent(new Event('beforeprint'));
      expect(shown(table).length === all, 'a print shows ' + shown(table).length + ' rows');
      dispatchEvent(new Event('afterprint'));
      expect(texts(0).join() === first, 'a print changes the table');
    }
    const graph = document.querySelector('.flame'), box = graph && [...graph.children].find((b) => parseFloat(b.style.width) < 60);
    if (box) {
      const width = box.style.width, near = (b, w) => Math.abs(parseFloat(b.style.width) - w) < 0.01;
      box.click();
      expect(near(box, 100), 'a box is ' + box.style.width + ' wide');
      box.click();
      expect(near(box, parseFloat(width)) && ![...graph.children].some((b) => b.hidden), 'a box stays ' + box.style.width + ' wide');
    }
    for (const place of document.querySelectorAll('.place'))
      expect(/^tracekit view \\S.* --at \\+\\d+us/.test(place.title), 'place ' + place.title);
    return faults;
  })()`);
}

async function look(browser, file, width, scheme) {
  const faults = [];
  browser.heard = ({method, params}) => {
    if (method === 'Network.requestWillBeSent' && !/^(file|data):/.test(params.request.url)) faults.push(`fetches ${params.request.url}`);
    if (method === 'Log.entryAdded') faults.push(params.entry.text);
    if (method === 'Runtime.exceptionThrown') faults.push(params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled') faults.push('says something');
  };
  const page = await browser.page('about:blank');
  for (const domain of ['Network', 'Log', 'Runtime']) await page.send(`${domain}.enable`);
  await page.send('Emulation.setDeviceMetricsOverride', {width, height: 900, deviceScaleFactor: 1, mobile: width < 600});
  await page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
  await page.send('Page.navigate', {url: `file://${file}`});
  await new Promise((resolve) => setTimeout(resolve, 700));
  const seen = await page.evaluate(LOOK) ?? {};
  const shot = join(out, `${basename(file)}.${width}.${scheme}.png`);
  await page.screenshot(shot);
  faults.push(...await zoom(page));
  if (!file.endsWith('.svg')) faults.push(...await tables(page));
  await page.close();
  if (!seen.words) faults.push('shows no text');
  if (seen.over > 0 && !file.endsWith('.svg')) faults.push(`is ${seen.over} too wide`);
  if (seen.small > 0) faults.push(`${seen.small} texts are too small`);
  return {page: basename(file), width, scheme, ok: faults.length === 0, faults, ...seen, screenshot: shot};
}

mkdirSync(out, {recursive: true});
const browser = new Browser(chromium);
let failed = false;
for (const file of files) {
  for (const [width, scheme] of [[360, 'light'], [1600, 'light'], [1600, 'dark']]) {
    const result = await look(browser, file, width, scheme);
    failed ||= !result.ok;
    console.log(JSON.stringify(result));
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
