// sw.js - keeps the files of the page for use offline. web/build.py fills in their names and a hash of their contents.
//
// A new version is used when all tabs of the old one are closed, so that files of two versions never meet.
const FILES = '@FILES@'.split(' '), CACHE = 'tracekit-@HASH@';

addEventListener('install', event => {
  event.waitUntil(caches.open(CACHE).then(cache => cache.addAll(FILES.map(file => new Request(file, { cache: 'reload' })))));
});

addEventListener('activate', event => {
  event.waitUntil(caches.keys().then(names => Promise.all(names.filter(name => name.startsWith('tracekit-') && name !== CACHE)
    .map(name => caches.delete(name)))).then(() => clients.claim()));
});

addEventListener('fetch', event => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== location.origin) return;
  event.respondWith(caches.match(event.request, { cacheName: CACHE, ignoreSearch: true }).then(found => found
    ?? fetch(event.request)));
});
