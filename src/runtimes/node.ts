import type { IncomingMessage, ServerResponse } from "node:http";
import type { Api, FileService, RequestHandler } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";
import type { Reply } from "../http/reply.ts";
import type { ReplyHandler } from "../http/reply-handler.ts";
import { createBatch } from "./node/batch.ts";
import { createExchange, type Exchange } from "./node/exchange.ts";
import { mayLackFields } from "./node/header-count.ts";
import { withInterimResponses } from "./node/interim-responses.ts";
import { openExchange } from "./node/pipelining.ts";
import { toRequest } from "./node/request.ts";
import { sendReply } from "./node/response.ts";
import { toMilliseconds } from "./node/server-limits.ts";
import { findHandler, isOurs } from "./request-handler.ts";

/** A listener for the `request` event of a `node:http` or `node:https` server. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

/** A middleware as Express and Connect call it. */
export type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: Error) => void) => void;

/** How a service is mounted on Node. */
export interface NodeListenerOptions {
  /** The only API variant to serve. Default: all three, which `service.fetch` distinguishes by the request. */
  readonly api?: Api;
  /**
   * After a refused upload the connection is half-closed, so that the client can read the response, and destroyed after
   * this time at the latest (CONTRACT 4.3). Seconds. Default: 1.5.
   */
  readonly lingerSeconds?: number;
}

/**
 * Turns the service, or any request handler such as that of `createAuthenticationEndpoint`, into a listener for
 * `http.createServer` and `https.createServer`. It never throws, and responds to every request of a connection that
 * stays open. A target that cannot be a URL is 400; the service responds to URLs outside of its URL space. The requests
 * of one connection reach the service one after the other, also if the client pipelines them.
 *
 * A host with a server of its own needs these settings. `createNodeServer` makes those that its protocol needs;
 * `prepareNodeServer` makes the first two for the server of a framework.
 * - Register the listener twice, by `server.on("request", listener)` and `server.on("checkContinue", listener)`. Only
 *   then does the client of a refused upload with `Expect: 100-continue` not send the body.
 * - Set `requestTimeout: 0`: with Node's default every upload is cut after 300 s.
 * - A request with as many header fields as the server keeps (`maxHeadersCount`, by default 1,000) is 431, because
 *   node:http drops further ones, and lengths and conditions with them. With 0 it drops none.
 * - Set `httpAllowHalfOpen`: otherwise Node stops reading when a client has closed its side, and drops the responses.
 */
export function toNodeListener(service: FileService | RequestHandler, options: NodeListenerOptions = {}): NodeListener {
  const { handler, lingerMilliseconds } = checkOptions(service, options);
  return (req, res) => {
    const exchange = createExchange(req, res);
    if (!exchange.state.lingering) take(exchange, undefined, handler, lingerMilliseconds);
  };
}

/**
 * Turns the service into a middleware for Express and Connect. A request that `service.handles` returns false for goes
 * to `next()`, untouched and synchronously, also while the service works on the same connection. The service sees the
 * complete URL (`originalUrl`), also below a mount path: the mount path is the service's `basePath`. Register it before
 * every body parser: a body that was already read is a 500, which the log explains. `prepareNodeServer` prepares the
 * server for uploads.
 */
export function toNodeMiddleware(service: FileService, options: NodeListenerOptions = {}): NodeMiddleware {
  const { handler, lingerMilliseconds } = checkOptions(service, options);
  return (req, res, next) => {
    const exchange = createExchange(req, res);
    if (exchange.state.lingering) return;
    const request = toRequest(exchange);
    if (isOurs(service, request)) take(exchange, request, handler, lingerMilliseconds);
    else next();
  };
}

function checkOptions(
  service: FileService | RequestHandler,
  { api, lingerSeconds = 1.5 }: NodeListenerOptions,
): { handler: ReplyHandler; lingerMilliseconds: number } {
  const handler = findHandler(service, api);
  checkOption(typeof lingerSeconds === "number" && lingerSeconds >= 0, "lingerSeconds", "a number of seconds, or 0");
  return { handler, lingerMilliseconds: toMilliseconds(lingerSeconds) };
}

/**
 * Takes a request over synchronously, and responds when Node has parsed everything that arrived with it: parsing,
 * responding and sending cost less when each is done to many requests in a row (docs/decisions/0013-small-requests.md).
 */
function take(exchange: Exchange, made: Request | undefined, handler: ReplyHandler, lingerMilliseconds: number): void {
  const previous = openExchange(exchange);
  whenParsed(exchange, () => void respondTo(exchange, previous, made, handler, lingerMilliseconds));
}

/** Starts the responses to the requests that have arrived in this iteration of the event loop. */
const whenParsed = createBatch((run) => setImmediate(run));

/**
 * Responds when the previous requests of the connection are done, and creates the `Request` then if the caller has not.
 * Never rejects. A service must not reject either; if it does, the client gets a blank 500.
 */
async function respondTo(
  exchange: Exchange,
  previous: Promise<void> | undefined,
  made: Request | undefined,
  handler: ReplyHandler,
  lingerMilliseconds: number,
): Promise<void> {
  if (previous !== undefined) await previous;
  const request = made ?? toRequest(exchange);
  let reply: Reply;
  try {
    if (mayLackFields(exchange.req, exchange.state.maxRawHeaders)) reply = createRefusal(431);
    else if (request === undefined) reply = { status: 400, headers: [] };
    else if (isUnframed(exchange.req)) reply = createRefusal(400);
    else if (hasUnknownCoding(exchange.req)) reply = { status: 501, headers: [] };
    else reply = await handler(request, withInterimResponses(exchange));
  } catch {
    reply = { status: 500, headers: [] };
  }
  exchange.responded = true;
  sendReply(exchange, reply, lingerMilliseconds);
}

/** A blank response that closes the connection. */
function createRefusal(status: number): Reply {
  return { status, headers: [["Connection", "close"]] };
}

/** HTTP/1.0 has no transfer codings, so the end of such a body is unknown (RFC 9112 6.1). */
function isUnframed({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMinor === 0 && headers["transfer-encoding"] !== undefined;
}

/** Whether there is a transfer coding other than `chunked`, which nothing would decode (RFC 9112 6.1). */
function hasUnknownCoding({ headers }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding !== undefined && coding.toLowerCase() !== "chunked";
}
