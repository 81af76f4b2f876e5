import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createGcsBucket, type GcsBucket } from "./gcs-bucket.ts";
import { findRefusal, type GcsKeys, type GcsRequest } from "./gcs-rules.ts";

/** A server that does with requests of S3 what the reference of Google's XML API says, with one bucket in memory. */
export interface GcsServer {
  readonly endpoint: string;
  readonly keys: GcsKeys;
  readonly bucket: GcsBucket;
  /** The requests that it has refused for what they are, not for what is stored: one text for each. */
  readonly refused: string[];
  /** All requests, as method and target. */
  readonly requests: string[];
  stop(): void;
}

/** Starts one, whose bucket is `example-files`. */
export async function startGcs(): Promise<GcsServer> {
  const keys: GcsKeys = { accessKeyId: "GOOG1EXAMPLE", secretAccessKey: crypto.randomUUID() };
  const bucket = createGcsBucket("example-files");
  const refused: string[] = [];
  const requests: string[] = [];

  const server = createServer(async (incoming, outgoing) => {
    const request = await readRequest(incoming);
    requests.push(`${request.method} ${request.target}`);
    const refusal = findRefusal(request, keys);
    if (refusal !== undefined) refused.push(`${request.method} ${request.target}: ${refusal.code} ${refusal.details}`);
    const response = refusal === undefined ? bucket.respond(request) : bucket.refuse(refusal);
    const { status, headers = {}, body = "" } = response;
    const content = typeof body === "string" ? Buffer.from(body) : body;
    outgoing.writeHead(status, {
      server: "UploadServer",
      "content-length": content.byteLength,
      ...(typeof body === "string" && body !== "" && { "content-type": "application/xml; charset=UTF-8" }),
      ...headers,
    });
    outgoing.end(request.method === "HEAD" ? undefined : content);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    bucket,
    refused,
    requests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Reads a request as it is behind Google's front end, which adds a coding to those that the client accepts. */
async function readRequest(incoming: IncomingMessage): Promise<GcsRequest> {
  const { method = "GET", url: target = "/" } = incoming;
  const body = await buffer(incoming);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
  headers.append("accept-encoding", "gzip(gfe)");
  const [path = "", query = ""] = target.split("?");
  return { method, target, path, query: new URLSearchParams(query), headers, body };
}
