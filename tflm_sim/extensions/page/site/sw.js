// Offline after the first visit: every file of one release is kept, and served from there.
const { release, files } = "@MANIFEST@";
const CACHE = `tflm_sim-${release}`;

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(["./", ...files.filter((name) => name !== "index.html")]);
    await self.skipWaiting();
  })());
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("tflm_sim-") && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
  })());
});

self.addEventListener("fetch", (event) => {
  if (new URL(event.request.url).origin !== self.location.origin || event.request.method !== "GET") return;
  event.respondWith((async () => (await caches.match(event.request, { cacheName: CACHE, ignoreSearch: true })) ?? fetch(event.request))());
});
