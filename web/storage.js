// storage.js - folders for large outputs in the private file system of the browser (OPFS), and their removal.
//
// Each open page has a folder and holds a lock of the same name, so that a later page can tell which folders are left over.
const PREFIX = 'tracekit-';
let page, runs = 0;

const root = () => navigator.storage.getDirectory();

/** Removes the folders of pages that are closed. */
async function clean() {
  const { held } = await navigator.locks.query(), names = new Set(held.map(lock => lock.name)), folder = await root();
  for await (const name of folder.keys())
    if (name.startsWith(PREFIX) && !names.has(name)) await folder.removeEntry(name, { recursive: true }).catch(() => {});
}

async function open() {
  if (!navigator.storage?.getDirectory || !navigator.locks) return null;
  const name = PREFIX + crypto.randomUUID();
  try {
    await root();
    await new Promise(resolve => navigator.locks.request(name, () => new Promise(() => resolve())));
    await clean();
    return name;
  } catch {
    return null; // private windows and pages from files have none: outputs stay in memory
  }
}

/** Returns the path of a new folder as a list of names, or null if the browser has none. */
export async function folderFor() {
  const name = await (page ??= open());
  return name && [name, `run${++runs}`];
}

/** Removes the folder of a run, with its outputs. */
export async function forget(path) {
  if (!path) return;
  for (let tries = 0; tries < 20; tries++) {
    try {
      const folder = await (await root()).getDirectoryHandle(path[0], { create: true });
      await folder.removeEntry(path[1], { recursive: true });
      return;
    } catch (error) {
      if (error.name === 'NotFoundError') return;
      await new Promise(resolve => setTimeout(resolve, 100)); // a worker that was ended still has it open
    }
  }
}
