import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type ServiceConfig, toServiceConfig } from "../../config/service-config.ts";
import { withForwardedPeer } from "../../request/client-address.ts";
import { describeSystemError } from "../failure.ts";
import { type Finding, ok, problem, warning } from "../findings.ts";
import { compareClock } from "./clock.ts";
import type { Examined } from "./examined.ts";
import { examineOffload, type ProbeFile, removeProbeFile, toHandOver, writeProbeFile } from "./offload.ts";
import { type Arrival, type ProbeServer, startProbeServer } from "./probe-server.ts";
import { askPublicly, type PublicResponse } from "./public-request.ts";

/** An address for documentation (RFC 5737), which no client has. */
const FORGED = "203.0.113.9";
const STREAM_MS = 3000;
const PROBE_BYTES = 10_737_418_240;
const TAG = '"fileferry-doctor"';
const CONTENT = "fileferry ".repeat(400);

/** A probe of what stands between the public address and the service. */
interface Probe {
  readonly url: URL;
  readonly config: ServiceConfig;
  /** The path of the service's own URLs. */
  readonly base: string;
}

/**
 * Asks the public address and says what arrives at the place of the service. While the service runs, its own answers
 * must do: they say less.
 */
export async function* examineProxy(examined: Examined, url: URL): AsyncGenerator<Finding> {
  const config = toServiceConfig(examined.settings.service);
  const base = `${config.basePath}/__svc__/doctor-${crypto.randomUUID()}`;
  const probe = { url, config, base };
  const probeFile = await writeProbeFile(examined);
  let server: ProbeServer | undefined;
  try {
    server = await startProbeServer(examined.settings, (request, response) => respond(request, response, probeFile));
    if (server === undefined) yield* examineRunning(probe);
    else yield* examineArrivals(probe, server, probeFile);
  } catch (error) {
    yield problem("listen", `cannot listen: ${describeSystemError(error)}`);
  } finally {
    await server?.close();
    await removeProbeFile(examined, probeFile);
  }
}

function respond({ url = "", method }: IncomingMessage, response: ServerResponse, file: ProbeFile | undefined): void {
  if (url.includes("/offload") && file !== undefined) response.writeHead(200, toHandOver(file)).end();
  else if (method !== "GET") response.writeHead(204, { Connection: "close", ETag: TAG }).end();
  else
    response.writeHead(200, { ETag: TAG, "Content-Type": "text/plain", "Content-Length": CONTENT.length }).end(CONTENT);
}

async function* examineRunning({ url, config }: Probe): AsyncGenerator<Finding> {
  const path = `${config.basePath}/__svc__/health`;
  yield warning("proxy", "the service is running", "stop it for a moment to see which headers arrive");
  const response = await askPublicly({ origin: url, path });
  if ("failure" in response) yield problem("proxy", `${url.origin}: ${response.failure}`);
  else if (response.status !== 204) yield problem("proxy", `${url.origin}${path} is ${response.status}`, "pass it on");
  else yield* [ok("proxy", `${url.origin}${path} reaches the service`), ...toClock(response)];
  if (!("failure" in response)) yield await findUploadLimit({ url, config, base: path });
}

async function* examineArrivals(
  probe: Probe,
  server: ProbeServer,
  file: ProbeFile | undefined,
): AsyncGenerator<Finding> {
  const { url, config, base } = probe;
  const path = `${base}/a%20b%2Fc%3A//d?e=%2f`;
  const arriving = server.arrival(base);
  const names = new Set(["X-Forwarded-For", ...(config.clientForwardedHeader && [config.clientForwardedHeader])]);
  const forged = [...names].map((name) => [name, /^forwarded$/i.test(name) ? `for=${FORGED}` : FORGED]);
  const headers = { "Accept-Encoding": "gzip, br", ...Object.fromEntries(forged) };
  const response = await askPublicly({ origin: url, path, headers });
  if ("failure" in response) {
    const toDo =
      "correct the address, its certificate or the proxy; NODE_EXTRA_CA_CERTS names an authority of your own";
    yield problem("proxy", `${url.origin}: ${response.failure}`, toDo);
    return;
  }
  if (response.headers.etag !== TAG && !String(response.headers.etag).includes("fileferry-doctor")) {
    yield problem("proxy", `${url.origin} is ${response.status}, and not from here`, "pass requests on to listen");
    return;
  }
  yield ok("proxy", `${url.origin} reaches ${config.basePath}/`);
  const arrival = await arriving;
  yield* examineHeaders(probe, arrival, path);
  yield examineResponse(response);
  yield* toClock(response);
  yield await examineStreaming(probe, server);
  yield await findUploadLimit(probe);
  if (file !== undefined) yield* examineOffload(probe, arrival, file);
}

function* examineHeaders({ url, config }: Probe, arrival: Arrival, path: string): Generator<Finding> {
  const { request } = arrival;
  yield request.url === path
    ? ok("proxy path", "arrives as the client wrote it")
    : problem("proxy path", `${path} arrives as ${request.url}`, "pass it on without decoding or merging slashes");
  const { host = "" } = request.headers;
  if (config.publicOrigin === "") {
    if (host !== url.host) yield problem("proxy Host", `arrives as ${host}`, "pass Host on, or set publicOrigin");
    if (url.protocol === "https:" && !isTls(request)) {
      yield problem("publicOrigin", "is missing, so cookies are not Secure", `set it to ${url.origin}`);
    }
  } else {
    yield config.publicOrigin === url.origin
      ? ok("publicOrigin", "is the public address")
      : problem("publicOrigin", `is ${config.publicOrigin}, not ${url.origin}`, "correct it");
  }
  yield examineClient(config, arrival);
}

/** Whether the service would take a forged address for that of the client. */
function examineClient(config: ServiceConfig, { request, address: peerAddress }: Arrival): Finding {
  const name = config.clientForwardedHeader;
  const about = "proxy client";
  const forwarded = request.headers["x-forwarded-for"];
  if (name === "") {
    if (forwarded === undefined || forwarded === FORGED) return ok(about, "the address of the connection counts");
    return warning(about, "the header X-Forwarded-For is not used", "set clientForwardedHeader to count each client");
  }
  const received = String(request.headers[name.toLowerCase()] ?? "");
  const peer = { address: peerAddress, port: 0, family: "IPv4", protocol: "TCP" } as const;
  const headers = new Headers({ [name]: received });
  const address = withForwardedPeer({ peer, isSecure: false }, { headers }, config).peer?.address;
  if (address === FORGED) {
    return problem(about, `any client can choose its address by ${name}`, "replace the header, or set trustedProxies");
  }
  return request.headers[name.toLowerCase()] === undefined
    ? problem(about, `${name} does not arrive`, "let the proxy send it, or remove clientForwardedHeader")
    : ok(about, `the service takes ${address} for the client`);
}

function examineResponse({ headers, body }: Extract<PublicResponse, { status: number }>): Finding {
  const isSame =
    headers.etag === TAG &&
    headers["content-encoding"] === undefined &&
    headers["content-length"] === String(CONTENT.length) &&
    body.toString() === CONTENT;
  return isSame
    ? ok("proxy response", "arrives unchanged")
    : problem("proxy response", "Content-Length or ETag is changed", "turn off compression, such as gzip, and caches");
}

/** Whether a request arrives before its content is complete. */
async function examineStreaming({ url, base }: Probe, server: ProbeServer): Promise<Finding> {
  const path = `${base}/stream`;
  let isStreamed = false;
  await askPublicly({
    origin: url,
    path,
    method: "PUT",
    headers: { "Content-Length": "2" },
    async send(write) {
      write(".");
      isStreamed = await Promise.race([server.arrival(path).then(() => true), delay(STREAM_MS, false)]);
      write(".");
    },
  });
  return isStreamed
    ? ok("proxy uploads", "are streamed")
    : warning(
        "proxy uploads",
        "are stored by the proxy first",
        "turn that off, such as by proxy_request_buffering off",
      );
}

/** Announces a large upload without sending it. */
async function findUploadLimit({ url, config, base }: Probe): Promise<Finding> {
  const bytes = config.limits.maxFileBytes || PROBE_BYTES;
  const headers = { "Content-Length": String(bytes), Expect: "100-continue" };
  const response = await askPublicly({ origin: url, path: base, method: "PUT", headers, headersOnly: true });
  const about = "proxy upload limit";
  return "status" in response && response.status === 413
    ? problem(about, `the proxy refuses ${bytes} bytes`, "raise its limit, such as by client_max_body_size 0")
    : ok(about, `${bytes} bytes may pass`);
}

function toClock({ headers }: Extract<PublicResponse, { status: number }>): readonly Finding[] {
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? [] : [compareClock("proxy clock", date)];
}

function isTls({ socket }: IncomingMessage): boolean {
  return "encrypted" in socket && socket.encrypted === true;
}
