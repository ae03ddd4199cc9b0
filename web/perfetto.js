// perfetto.js - passes an output to the Perfetto UI in another tab, when the user asks for it.
//
// The tab answers PING with PONG once it can receive a trace, and then opens the buffer that it gets. The trace goes from tab to
// tab within the browser: ui.perfetto.dev is the address of the program, which needs no server for it.
export const ADDRESS = 'https://ui.perfetto.dev';
const SECONDS = 60;

/** True if the viewer can open such a file. */
export const opens = path => /\.(json|pftrace|perfetto-trace)(\.gz)?$/.test(path) && !/\.speedscope\.json$/.test(path);

/** True if the viewer accepts a trace from this page: the origin of a page from a file has no name. */
export const accepts = () => location.protocol !== 'file:';

function answers(target) {
  return new Promise((resolve, reject) => {
    const end = result => { clearInterval(pings); clearTimeout(limit); removeEventListener('message', hear); result(); };
    const hear = event => {
      if (event.source === target && event.origin === ADDRESS && event.data === 'PONG') end(resolve);
    };
    addEventListener('message', hear);
    const pings = setInterval(() => target.postMessage('PING', ADDRESS), 100);
    const limit = setTimeout(() => end(() =>
      reject(new Error('ui.perfetto.dev does not respond; download the file, and open it there'))),
      1000 * SECONDS);
  });
}

/** Opens a file in a new tab. Must be called by a click, or the browser blocks the tab. */
export async function openInPerfetto(file, name) {
  const tab = open(ADDRESS);
  if (!tab) throw new Error('the browser blocked the new tab; allow it, and try again');
  const buffer = file.arrayBuffer(); // while the viewer loads
  buffer.catch(() => {});
  await answers(tab);
  const trace = await buffer;
  tab.postMessage({ perfetto: { buffer: trace, title: name, fileName: name } }, ADDRESS, [trace]);
}
