// pages.mjs CHROMIUM OUT FILE... - opens each page or drawing from its file, in the width of a phone and of a screen, light and dark,
// and saves screenshots in OUT. A page must not fetch anything, report an error, overflow horizontally, or have unreadably small text.
// Prints a line of JSON per file; status 1 if one failed.
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
