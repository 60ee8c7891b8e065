// An origin whose page imports `gambeson/channel` from `dist`.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const PAGE = `<!doctype html><script type="importmap">{"imports": {"gambeson/channel": "/channel.js"}}</script>`;

export async function pages() {
  const server = createServer(async ({ url }, answer) => {
    const body = url === "/" ? PAGE : await readFile(new URL(`../dist${url}`, import.meta.url)).catch(() => undefined);
    answer.writeHead(body === undefined ? 404 : 200, { "content-type": url === "/" ? "text/html" : "text/javascript" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
