// page.mjs - the page as its users see it: adds files, fills in forms, runs operations, reads results.
import {readFileSync, readdirSync, rmSync, statSync} from 'node:fs';
import {basename, dirname, join, relative} from 'node:path';
import {until} from './browsers.mjs';

const CARD = `(() => {
  const card = document.querySelector('.card'), text = (selector) => [...card.querySelectorAll(selector)].map((e) => e.textContent);
  return {title: text('h3')[0], outcome: text('.outcome')[0], look: card.querySelector('.outcome').className, commands: text('.command-line'),
          texts: text('pre.text:not(.command-line)'), messages: text('.messages li'), errors: text('.error'), outputs: text('.outputs .name').map(String),
          names: [...card.querySelectorAll('.outputs a')].map((a) => a.download), paths: [...card.querySelectorAll('.outputs .name')].map((e) => e.firstChild.data),
          buttons: text('.outputs button'), frames: [...card.querySelectorAll('iframe')].map((f) => f.title)};
})()`;

export class Page {
  constructor(browser, page) { Object.assign(this, {browser, page, evaluate: (expression) => page.evaluate(expression)}); }

  static async open(browser, url) {
    const page = new Page(browser, await browser.page(url));
    await page.ready();
    return page;
  }

  ready() { return until('the page', 30, () => this.evaluate(`document.documentElement?.dataset.ready === 'true'`)); }
  text(selector) { return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`); }
  click(selector) { return this.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`); }

  /** Resolves with the rows of the table once the list is complete. */
  async listed() {
    await until('the list', 60, async () => /trace|file/.test(await this.text('#traces-status'))
      && !/Looking/.test(await this.text('#traces-status')) ||
      await this.text('#trouble'));
    return this.evaluate(`[...document.querySelectorAll('#list tbody tr')].map((row) => ({file: row.querySelector('.file').firstChild.data,
      words: row.innerText, why: row.querySelector('.file small:not(.narrow)')?.textContent ?? '', on: row.querySelector('input').checked}))`);
  }

  async add(files, chooser = '#files') {
    await this.evaluate(`document.querySelector('#traces-status').textContent = ''`);
    await this.page.files(chooser, files);
    return this.listed();
  }

  /** Adds a folder. WebDriver cannot choose one, so in Firefox the dialog is left out: the page gets files that have paths. */
  async addFolder(folder) {
    if (this.browser.name === 'chromium') return this.add([folder], '#folder');
    const paths = readdirSync(folder, {recursive: true}).filter((path) => statSync(join(folder, path)).isFile());
    const files = paths.map((path) => [relative(dirname(folder), join(folder, path)),
      readFileSync(join(folder, path), 'base64')]);
    await this.evaluate(`(() => {
      document.querySelector('#traces-status').textContent = '';
      const files = ${JSON.stringify(files)}.map(([path, text]) => Object.defineProperty(
        new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], path.split('/').pop()), 'webkitRelativePath', {value: path}));
      const chooser = document.querySelector('#folder');
      Object.defineProperty(chooser, 'files', {value: files, configurable: true});
      chooser.dispatchEvent(new Event('change'));
    })()`);
    return this.listed();
  }

  /** Adds a file with these contents, as if it had been dropped. */
  async dropContents(name, text) {
    await this.evaluate(`(() => {
      document.querySelector('#traces-status').textContent = '';
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      document.querySelector('#drop').dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true, cancelable: true}));
    })()`);
    return this.listed();
  }

  async clear() {
    await this.evaluate(`(() => { const b = document.querySelector('#remove-all'); if (!b.hidden) b.click(); })()`);
    await until('no traces', 20, async () => (await this.evaluate(`document.querySelectorAll('#list tr').length`)) === 0);
  }

  /** Selects the traces whose path is in a list. */
  only(paths) {
    return this.evaluate(`[...document.querySelectorAll('#list tbody tr')].forEach((row) => {
      const box = row.querySelector('input'), on = ${JSON.stringify(paths)}.includes(row.querySelector('.file').firstChild.data);
      if (box.checked !== on) box.click();
    })`);
  }

  /** Chooses an operation, and fills in its form. */
  async choose(operation, values = {}) {
    await this.click(`#operations input[value="${operation}"]`);
    await this.evaluate(`(() => {
      const form = document.querySelector('#form');
      for (const control of form.elements) if (control.type === 'checkbox') control.checked = false;
      for (const control of form.querySelectorAll('input[type=text]')) control.value = '';
      for (const control of form.querySelectorAll('select')) control.selectedIndex = control.name === 'after' ? 1 : 0;
      for (const [name, value] of Object.entries(${JSON.stringify(values)})) {
        const control = form.elements[name];
        if (control.type === 'checkbox') control.checked = value; else control.value = value;
      }
      form.dispatchEvent(new Event('input', {bubbles: true}));
    })()`);
  }

  cards() { return this.evaluate(`document.querySelectorAll('.card').length`); }

  async run(operation, values = {}, seconds = 120) {
    const before = await this.cards();
    await this.choose(operation, values);
    const line = await this.text('#line'), obstacle = await this.text('#obstacle');
    if (obstacle) throw new Error(`${operation}: ${obstacle}`);
    await this.click('#run');
    await until(`${operation}: ${line}`, seconds, async () => (await this.cards()) > before);
    return this.evaluate(CARD);
  }

  card() { return this.evaluate(CARD); }

  /** Downloads an output of the newest card by its link, and returns its bytes. */
  async download(name) {
    rmSync(join(this.browser.downloads, name), {force: true});
    await this.evaluate(`[...document.querySelectorAll('.card')][0].querySelector('a[download=${JSON.stringify(name)}]').click()`);
    return readFileSync(await this.browser.downloaded(name));
  }

  /** Returns how much wider than the window the page is, the elements that stick out, and the number of texts that are too small. */
  layout() {
    return this.evaluate(`(() => {
      const root = document.documentElement, wide = [...document.querySelectorAll('main *')].filter((e) => !e.closest('pre, .scroll, .hidden, #operations label') &&
        e.getBoundingClientRect().right > root.clientWidth + 1).map((e) => e.tagName + '.' + e.className + '#' + e.id);
      const small = [...document.querySelectorAll('p, td, th, li, label, button, a, small, pre')].filter((e) => e.textContent.trim() && e.getClientRects().length &&
        parseFloat(getComputedStyle(e).fontSize) < 11).length;
      return {over: root.scrollWidth - root.clientWidth, wide: wide.slice(0, 5), small};
    })()`);
  }
}
