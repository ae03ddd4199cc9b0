// browser.mjs - a headless browser, controlled through its debugging pipe.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {tmpdir} from 'node:os';

// Client of the debugging protocol: JSON messages, each terminated by a NUL.
export class Browser {
  constructor(chromium, more = []) {
    this.folder = mkdtempSync(join(tmpdir(), 'viewers-'));
    this.process = spawn(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe',
      '--window-size=1400,900', `--user-data-dir=${this.folder}`, ...more], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.waiting = new Map();
    this.id = 0;
    let text = '';
    this.process.stdio[4].on('data', (data) => {
      const parts = (text + data).split('\0');
      text = parts.pop();
      for (const message of parts.map((part) => JSON.parse(part))) {
        if (message.method === 'Page.javascriptDialogOpening') this.dialog(message);
        if (message.method) this.heard(message);
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

  // speedscope reports an unreadable file by alert(), which blocks everything else until it is dismissed.
  dialog({params, sessionId}) {
    this.alert = params.message;
    this.send('Page.handleJavaScriptDialog', {accept: true}, sessionId).catch(() => {});
  }

  heard() {} // called with every event; users may replace it

  async page(url) {
    this.alert = '';
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    const send = (method, params) => this.send(method, params, sessionId);
    await send('Page.enable');
    await send('Page.navigate', {url});
    return {
      send,
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
