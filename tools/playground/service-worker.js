// Answers requests below fake/<id of a page>/ with the fake service in the Python of that page.
const scope = new URL(registration.scope).pathname;

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

// A page asks for its id.
addEventListener("message", ({ source, ports: [port] }) => port.postMessage(source.id));

addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (origin !== location.origin || !pathname.startsWith(`${scope}fake/`)) return;
  const [, id, path] = pathname.slice(scope.length).match(/^fake\/([^/]+)(\/.*)/) ?? [];
  // The site has the page's script and styles as files.
  if (path?.startsWith("/approval/static/")) event.respondWith(fetch(`.${path}`));
  else event.respondWith(ask(id, event.request));
});

async function ask(id, request) {
  const page = await clients.get(id);
  if (!page) return new Response("The page with this service is closed.", { status: 410 });
  const { port1, port2 } = new MessageChannel();
  const reply = new Promise((resolve) => (port1.onmessage = resolve));
  const { method, url } = request;
  const root = `${scope}fake/${id}`;
  page.postMessage(["respond", root, location.origin, method, url, await request.text()], [port2]);
  const { result, error } = (await reply).data;
  if (error) return new Response(error, { status: 500 });
  const [status, headers, text] = result;
  return new Response(text, { status, headers });
}
