import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { S3Fetch } from "../../../src/storage/s3.ts";

/**
 * Serves a store in memory over HTTP until the test is over, with a clock that is some seconds ahead of this machine's.
 * Returns its endpoint; its bucket is `bucket`.
 */
export async function serveFake(fetch: S3Fetch, aheadSeconds = 0): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = "GET", url = "" } = request;
    const body = await buffer(request);
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const stored = await fetch(`http://store.test${url}`, { method, headers, ...(body.length > 0 && { body }) });
    const date = new Date(Date.now() + aheadSeconds * 1000).toUTCString();
    response.writeHead(stored.status, { ...Object.fromEntries(stored.headers), date });
    response.end(Buffer.from(await stored.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
