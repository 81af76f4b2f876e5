import type { IncomingMessage, ServerResponse } from "node:http";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";
import { Response } from "../platform/fetch.ts";
import { createExchange, type Exchange, openExchange } from "./node/exchange.ts";
import { mayLackFields } from "./node/header-count.ts";
import { toRequest } from "./node/request.ts";
import { sendResponse } from "./node/response.ts";
import { toMilliseconds } from "./node/server-limits.ts";
import { type Api, isOurs, toRequestHandler } from "./request-handler.ts";

/** What answers the requests of one `node:http` or `node:https` server. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

/** A middleware as Express and Connect call it. */
export type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** How a service is mounted on Node. */
export interface NodeListenerOptions {
  /** The one API variant to answer with. Default: all three, as `service.fetch` tells them apart. */
  readonly api?: Api;
  /**
   * After a refused upload (CONTRACT 4.3) the connection is half-closed, and destroyed after this long at most, so
   * that the client can read the response. Seconds. Default: 1.5.
   */
  readonly lingerSeconds?: number;
}

/**
 * The service, or any handler of requests such as that of `createAuthenticationEndpoint`, as a listener for `http.createServer` and
 * `https.createServer`. It answers every request and never throws; a target that cannot be a URL is 400, and what lies outside the URL space is what the service answers. The
 * requests of one connection reach the service one after the other, also where the client pipelines them.
 *
 * A server of the host's own should register it twice, `server.on("request", listener)` and
 * `server.on("checkContinue", listener)`: only then does an upload with `Expect: 100-continue` that the service refuses
 * keep its body to itself. And it should set `requestTimeout: 0`: Node's default cuts every upload at 300 s.
 * A request with as many fields as the server keeps (`maxHeadersCount`, 1,000 by default) is 431: node:http drops those beyond it, and with them lengths and conditions. With 0 none is dropped.
 * Node reads no further behind a client that has closed its side and drops what would be answered, unless `httpAllowHalfOpen` is set. `createNodeServer` does all of this, `prepareNodeServer` the first two for a server of a framework's.
 */
export function toNodeListener(service: FileService | RequestHandler, options: NodeListenerOptions = {}): NodeListener {
  const { handler, lingerMilliseconds } = checkOptions(service, options);
  return (req, res) => {
    const exchange = createExchange(req, res);
    if (!exchange.state.ending) take(exchange, undefined, handler, lingerMilliseconds);
  };
}

/**
 * The service as a middleware for Express and Connect. What `service.handles` does not claim goes to `next()`
 * untouched and at once, also while the service is at work on the same connection. The URL is the whole one (`originalUrl`) also below a mount path: the mount path is the service's `basePath`.
 * It wants to stand before every body parser: a body that one has read is a 500, which the log explains. `prepareNodeServer` makes the server fit for uploads.
 */
export function toNodeMiddleware(service: FileService, options: NodeListenerOptions = {}): NodeMiddleware {
  const { handler, lingerMilliseconds } = checkOptions(service, options);
  return (req, res, next) => {
    const exchange = createExchange(req, res);
    if (exchange.state.ending) return;
    const request = toRequest(exchange);
    if (isOurs(service, request)) take(exchange, request, handler, lingerMilliseconds);
    else next();
  };
}

function checkOptions(
  service: FileService | RequestHandler,
  { api, lingerSeconds = 1.5 }: NodeListenerOptions,
): { handler: RequestHandler; lingerMilliseconds: number } {
  const handler = toRequestHandler(service, api);
  checkOption(lingerSeconds >= 0, "lingerSeconds", "a number of seconds, or 0");
  return { handler, lingerMilliseconds: toMilliseconds(lingerSeconds) };
}

/**
 * Takes a request over at once, and answers it when all that has arrived with it is parsed: parsing, answering and sending cost less
 * when each is done to many in a row (docs/decisions/0013-small-requests.md).
 */
function take(
  exchange: Exchange,
  made: Request | undefined,
  handler: RequestHandler,
  lingerMilliseconds: number,
): void {
  setImmediate(respondTo, exchange, openExchange(exchange), made, handler, lingerMilliseconds);
}

/**
 * Answers when the connection's turn comes; a request that nobody has made yet is made then. Never rejects. The service
 * does not either, by its contract; should it, the client learns nothing of why.
 */
async function respondTo(
  exchange: Exchange,
  turn: Promise<void> | undefined,
  made: Request | undefined,
  handler: RequestHandler,
  lingerMilliseconds: number,
): Promise<void> {
  if (turn !== undefined) await turn;
  const request = made ?? toRequest(exchange);
  let response: Response;
  try {
    if (mayLackFields(exchange.req, exchange.state.mostFields)) response = refusal(431);
    else if (request === undefined) response = new Response(null, { status: 400 });
    else if (isUnframed(exchange.req)) response = refusal(400);
    else if (isContentEncoded(exchange.req)) response = new Response(null, { status: 501 });
    else response = await handler(request, exchange.state.connection);
  } catch {
    response = new Response(null, { status: 500 });
  }
  exchange.responded = true;
  sendResponse(exchange, response, lingerMilliseconds);
}

/** A blank answer behind which the connection ends. */
function refusal(status: number): Response {
  return new Response(null, { status, headers: { Connection: "close" } });
}

/** HTTP/1.0 knows no transfer codings: where its body ends is anybody's guess (RFC 9112, 6.1). */
function isUnframed({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMinor === 0 && headers["transfer-encoding"] !== undefined;
}

/** A transfer coding besides `chunked`: nobody would undo it (RFC 9112, 6.1). */
function isContentEncoded({ headers }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding !== undefined && coding.toLowerCase() !== "chunked";
}
