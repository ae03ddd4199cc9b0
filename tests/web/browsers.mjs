// browsers.mjs - headless Chromium, by its debugging protocol, and Firefox, by WebDriver BiDi, with the same methods.
//
// A browser records `requests`, the addresses that its pages and workers ask for, and `faults`: errors in the console. Downloads go
// to a folder. Firefox needs a WebSocket: node 22, or node 20 with --experimental-websocket.
import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Browser} from '../interop/browser.mjs';

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until a function returns something true, and returns it. Throws after this many seconds. */
export async function until(what, seconds, done) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    const result = await done();
    if (result) return result;
    await sleep(100);
  }
  throw new Error(`timeout: ${what}`);
}

/** Removes the profile of a browser, in which its last processes may still be writing. */
async function remove(folder) {
  for (let tries = 0; tries < 50; tries++) {
    try {
      rmSync(folder, {recursive: true, force: true});
      return;
    } catch {
      await sleep(100);
    }
  }
}

// An expression as a promise of text, so that both protocols return the same.
const asText = (expression) => `(async () => JSON.stringify(await (${expression})) ?? 'null')()`;

class Common {
  /** Waits for a download, and returns its path. */
  async downloaded(name) {
    const path = join(this.downloads, name);
    const whole = () => existsSync(path) && !readdirSync(this.downloads).some((other) => /\.(part|crdownload)$/.test(other));
    let size = -1;
    await until(`download of ${name}`, 60, () => {
      if (!whole()) return false;
      const before = size;
      size = statSync(path).size;
      return size === before;
    });
    return path;
  }
}

// ---- Chromium ----

const SILENT = ['Page', 'Runtime', 'Log', 'Network', 'DOM'];
const KEYS = {Tab: 9, Enter: 13, ' ': 32, ArrowRight: 39, ArrowDown: 40};

class ChromiumPage {
  constructor(page) { this.page = page; }

  async evaluate(expression) {
    const {result, exceptionDetails} = await this.page.send('Runtime.evaluate',
      {expression: asText(expression), awaitPromise: true, returnByValue: true, userGesture: true,
        allowUnsafeEvalBlockedByCSP: false});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return JSON.parse(result.value);
  }

  async files(selector, files) {
    const {result} = await this.page.send('Runtime.evaluate',
      {expression: `document.querySelector(${JSON.stringify(selector)})`});
    await this.page.send('DOM.setFileInputFiles', {files, objectId: result.objectId});
  }

  /** Drops files and folders of this machine at a place. */
  async drop(files, x, y) {
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await this.page.send('Input.dispatchDragEvent', {type, x, y, data: {items: [], files, dragOperationsMask: 1}});
  }

  async look(width, scheme) {
    await this.page.send('Emulation.setDeviceMetricsOverride', {width, height: 900, deviceScaleFactor: 1, mobile: width < 600});
    await this.page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
  }

  async key(key, shift = false) {
    const common = {key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: KEYS[key], modifiers: shift ? 8 : 0};
    const text = {Enter: '\r', ' ': ' '}[key];
    await this.page.send('Input.dispatchKeyEvent', {type: text ? 'keyDown' : 'rawKeyDown', ...common, text});
    await this.page.send('Input.dispatchKeyEvent', {type: 'keyUp', ...common});
  }

  /** Saves a picture of the whole page, whose frames are drawn only within the window. */
  async screenshot(path) {
    const height = await this.evaluate('document.documentElement.scrollHeight'), width = await this.evaluate('innerWidth');
    const {data} = await this.page.send('Page.captureScreenshot',
      {captureBeyondViewport: true, clip: {x: 0, y: 0, width, height: Math.min(height, 6000), scale: 1}});
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  /** Returns the roles of controls that have no name for a screen reader. */
  async unnamed() {
    const {nodes} = await this.page.send('Accessibility.getFullAXTree'),
      named = ['button', 'link', 'checkbox', 'radio', 'textbox', 'combobox',
      'Iframe', 'progressbar', 'region', 'DisclosureTriangle', 'listbox'];
    return nodes.filter((node) => !node.ignored && named.includes(node.role?.value)
      && !node.name?.value).map((node) => node.role.value);
  }

  go(url) { return this.page.send('Page.navigate', {url}); }
  close() { return this.page.close(); }
}

export class Chromium extends Common {
  constructor(program, downloads, more = []) {
    super();
    Object.assign(this, {name: 'chromium', downloads, requests: [], faults: []});
    mkdirSync(downloads, {recursive: true});
    this.browser = new Browser(program, more);
    this.browser.heard = (event) => this.heard(event);
  }

  heard({method, params, sessionId}) {
    const say = (text) => this.faults.push(text);
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') say(`${params.entry.text} ${params.entry.url ?? ''}`);
    if (method === 'Runtime.exceptionThrown') say(params.exceptionDetails.exception?.description
      ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled') say(params.args.map((a) => a.value ?? a.description).join(' '));
    if (method === 'Target.attachedToTarget') this.attached(params.sessionId, params.targetInfo);
    if (method === 'Inspector.targetCrashed') say(`crashed ${sessionId}`);
  }

  // Workers are targets of their own, so the page does not see their requests.
  attached(session, info) {
    if (!/worker/.test(info.type)) return;
    // a worker answers only once it runs, so nothing is awaited
    for (const method of ['Network.enable', 'Runtime.enable', 'Runtime.runIfWaitingForDebugger']) this.browser.send(method, {},
      session).catch(() => {});
  }

  async page(url) {
    await this.browser.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: this.downloads});
    const page = await this.browser.page('about:blank');
    for (const domain of SILENT) await page.send(`${domain}.enable`);
    await page.send('Target.setAutoAttach', {autoAttach: true, waitForDebuggerOnStart: true, flatten: true});
    const made = new ChromiumPage(page);
    await made.go(url);
    return made;
  }

  /** Returns the titles of all tabs. */
  async titles() { return (await this.browser.send('Target.getTargets')).targetInfos.map((target) => target.title); }

  async close() {
    const ended = new Promise((resolve) => this.browser.process.on('exit', resolve));
    this.browser.send('Browser.close').catch(() => {});
    await Promise.race([ended, sleep(5000).then(() => this.browser.process.kill('SIGKILL'))]);
    await remove(this.browser.folder);
  }
}

// ---- Firefox ----

const PREFERENCES = {
  'browser.download.folderList': 2, 'browser.download.useDownloadDir': true,
    'browser.download.always_ask_before_handling_new_types': false,
  'browser.helperApps.neverAsk.saveToDisk': 'application/octet-stream,text/plain,application/json,text/html,application/gzip',
  'browser.download.alwaysOpenPanel': false, 'browser.shell.checkDefaultBrowser': false,
    'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false, 'app.update.enabled': false, 'browser.startup.homepage_override.mstone': 'ignore',
  'network.dns.localDomains': 'ui.perfetto.dev', 'network.stricttransportsecurity.preloadlist': false,
    'dom.disable_open_during_load': false, 'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false, 'extensions.getAddons.cache.enabled': false,
    'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false, 'services.settings.server': 'http://127.0.0.1:9/',
    'browser.newtabpage.enabled': false,
};

class FirefoxPage {
  constructor(browser, context) { Object.assign(this, {browser, context}); }

  async script(expression) {
    const answer = await this.browser.send('script.evaluate',
      {expression, target: {context: this.context}, awaitPromise: true, userActivation: true});
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
    return answer.result;
  }

  async evaluate(expression) { return JSON.parse((await this.script(asText(expression))).value); }

  async files(selector, files) {
    const {sharedId} = await this.script(`document.querySelector(${JSON.stringify(selector)})`);
    await this.browser.send('input.setFiles', {context: this.context, element: {sharedId}, files});
  }

  async key(key, shift = false) {
    const value = {Tab: '\uE004', Enter: '\uE007', ' ': ' ', ArrowRight: '\uE014', ArrowDown: '\uE015'}[key];
    const press = [{type: 'keyDown', value}, {type: 'keyUp', value}], SHIFT = '\uE008';
    const actions = shift ? [{type: 'keyDown', value: SHIFT}, ...press, {type: 'keyUp', value: SHIFT}] : press;
    await this.browser.send('input.performActions', {context: this.context, actions: [{type: 'key', id: 'keyboard', actions}]});
  }

  look(width) { return this.browser.send('browsingContext.setViewport',
    {context: this.context, viewport: {width, height: 900}}); }

  async screenshot(path) {
    const {data} = await this.browser.send('browsingContext.captureScreenshot', {context: this.context, origin: 'document'});
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  go(url) { return this.browser.send('browsingContext.navigate', {context: this.context, url, wait: 'complete'}); }
  close() { return this.browser.send('browsingContext.close', {context: this.context}); }
}

export class Firefox extends Common {
  constructor(program, downloads) {
    super();
    Object.assign(this, {name: 'firefox', downloads, requests: [], faults: [], waiting: new Map(), id: 0});
    mkdirSync(downloads, {recursive: true});
    this.folder = mkdtempSync(join(tmpdir(), 'firefox-'));
    const preferences = Object.entries({...PREFERENCES, 'browser.download.dir': downloads});
    writeFileSync(join(this.folder, 'user.js'),
      preferences.map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`).join(''));
    this.process = spawn(program, ['--headless', '--no-remote', '--profile', this.folder, '--remote-debugging-port', '0',
      '--remote-allow-system-access'],
      {stdio: ['ignore', 'ignore', 'pipe'], env: {...process.env, HOME: this.folder, MOZ_CRASHREPORTER_DISABLE: '1'}});
    this.address = new Promise((resolve, reject) => {
      let text = '';
      this.process.stderr.on('data', (data) => {
        const found = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(text += data);
        if (found) resolve(`${found[1]}/session`);
      });
      this.process.on('exit', (status) => reject(new Error(`firefox ended with ${status}: ${text}`)));
    });
  }

  async connect() {
    this.socket = new WebSocket(await this.address);
    await new Promise((resolve, reject) => { this.socket.onopen = resolve; this.socket.onerror = () =>
      reject(new Error('no connection to firefox')); });
    this.socket.onmessage = ({data}) => this.heard(JSON.parse(data));
    await this.send('session.new', {capabilities: {alwaysMatch: {acceptInsecureCerts: true}}});
    await this.send('session.subscribe', {events: ['log.entryAdded', 'network.beforeRequestSent']});
  }

  heard(message) {
    const {method, params} = message;
    if (method === 'network.beforeRequestSent') this.requests.push(params.request.url);
    if (method === 'log.entryAdded' && (params.level === 'error' || params.type === 'console')) this.faults.push(params.text);
    this.waiting.get(message.id)?.(message);
    this.waiting.delete(message.id);
  }

  send(method, params) {
    const id = ++this.id;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (m) => m.type === 'error' ? reject(new Error(`${method}: ${m.error}: ${m.message}`))
        : resolve(m.result));
      this.socket.send(JSON.stringify({id, method, params}));
    });
  }

  async page(url) {
    if (!this.socket) await this.connect();
    const {context} = await this.send('browsingContext.create', {type: 'tab'}), page = new FirefoxPage(this, context);
    await page.go(url);
    return page;
  }

  async titles() {
    const {contexts} = await this.send('browsingContext.getTree', {maxDepth: 0});
    return Promise.all(contexts.map(async ({context}) => new FirefoxPage(this, context).evaluate('document.title').catch(() =>
      '')));
  }

  close() {
    this.process.kill();
    return new Promise((resolve) => this.process.on('exit', () => {
      remove(this.folder).then(resolve);
    }));
  }
}
