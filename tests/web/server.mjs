// server.mjs - a static server for the page, which records what is asked for, and can answer with other files.
import {createServer} from 'node:http';
import {readFileSync} from 'node:fs';
import {extname, join, normalize} from 'node:path';

const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm'};

export class Server {
  constructor(folder) {
    this.folder = folder;
    this.asked = [];
    this.instead = new Map(); // contents by path, instead of the files in the folder
    this.server = createServer((request, response) => this.answer(request, response));
  }

  answer(request, response) {
    const path = normalize(new URL(request.url, 'http://localhost').pathname), name = path === '/' ? '/index.html' : path;
    this.asked.push(path);
    try {
      const body = this.instead.get(name) ?? readFileSync(join(this.folder, name));
      response.writeHead(200, {'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
        'Cache-Control': 'no-store'}).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }

  start() {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', () => {
      this.url = `http://127.0.0.1:${this.server.address().port}/`;
      resolve(this);
    }));
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}
