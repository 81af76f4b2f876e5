import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import { Server as NetServer, type Socket } from "node:net";
import type { FileService, RequestHandler } from "../../contracts/file-service.ts";
import { checkOption } from "../../contracts/option-error.ts";
import { wait } from "../../platform/wait.ts";
import { type NodeListenerOptions, toNodeListener } from "../node.ts";
import { type Connections, limitPerAddress, trackConnections } from "./connection-limits.ts";
import { cutServer, cutSlow, cutSocket, type Exchange, exchangeOf, isIdle } from "./exchange.ts";
import { enforceMinThroughput } from "./min-throughput.ts";
import { rejectTunnel, respondToProtocolError } from "./protocol-errors.ts";
import {
  type NodeServerLimits,
  type ServerLimits,
  toMilliseconds,
  toServerLimits,
  toServerOptions,
} from "./server-limits.ts";
import { startDraining, stopDraining } from "./shutdown.ts";

/** The key and certificates of a TLS server, in PEM. */
export interface NodeTlsOptions {
  readonly key: string | Buffer;
  /** The server's certificate, followed by the intermediate ones. */
  readonly cert: string | Buffer;
  /**
   * The authorities of client certificates. If set, the server asks clients for a certificate. Clients without one, or
   * with one that is not valid, are accepted and log in by other methods (CONTRACT 6.7).
   */
  readonly ca?: string | Buffer | readonly (string | Buffer)[];
}

/** Options of {@link createNodeServer}. */
export interface NodeServerOptions extends NodeListenerOptions, NodeServerLimits {
  /** Serves HTTPS. Default: plain HTTP. */
  readonly tls?: NodeTlsOptions;
}

/** How long `closeNodeServer` waits at most for the service to clean up after transfers that it has cut. */
const SETTLING_MILLISECONDS = 1000;

/** How many header fields a request may have: Node's own default. */
const MAX_FIELDS = 1000;

const servers = new WeakMap<HttpServer | HttpsServer, Connections>();

/**
 * Creates a server for the service, or for any request handler. It does not listen yet. Uploads may take any time; the
 * head of a request, a silent client and a very slow one have limits. Each process counts its own connections.
 * @throws TypeError that names the wrong option.
 */
export function createNodeServer(
  service: FileService | RequestHandler,
  options: NodeServerOptions = {},
): HttpServer | HttpsServer {
  const { tls } = options;
  const limits = toServerLimits(options);
  const listener = toNodeListener(service, options);
  const own = toServerOptions(limits);
  const server = tls === undefined ? createHttpServer(own) : createHttpsServer({ ...own, ...toTlsOptions(tls) });
  server.on("request", listener);
  server.on("checkContinue", listener);
  // A server may ignore other expectations (RFC 9110 10.1.1); Node's own 417 would read the complete body first.
  server.on("checkExpectation", listener);
  server.on("connect", rejectTunnel);
  server.timeout = limits.idleMilliseconds;
  if (limits.maxConnections > 0) server.maxConnections = limits.maxConnections;
  if (limits.maxConnectionsPerAddress > 0) limitPerAddress(server, limits.maxConnectionsPerAddress);
  // node:http silently drops further fields, and the listener refuses a request that may lack some. Without a bound one
  // head could take megabytes.
  server.maxHeadersCount = MAX_FIELDS;
  const connections = trackConnections(server, tls !== undefined);
  servers.set(server, connections);
  cutSlowClients(server, connections, limits);
  server.on("clientError", (error, socket) => {
    if (connections.ready.has(socket as Socket)) respondToProtocolError(error, socket as Socket);
    else socket.destroy();
  });
  server.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE") error.message = describeTakenAddress(error);
    // Without a listener of the host, the error ends the process, as for any server.
    if (server.listenerCount("error") === 1) throw error;
  });
  // A client may half-close after its last request and still wait for the responses (RFC 9112 9.6).
  if (tls === undefined) Object.assign(server, { httpAllowHalfOpen: true });
  return server;
}

/** Options of {@link closeNodeServer}. */
export interface CloseNodeServerOptions {
  /**
   * Cuts transfers that still run after this time: uploads leave the existing file, downloads break off.
   * Seconds; 0 waits until all of them are finished. Default: 0.
   */
  readonly deadlineSeconds?: number;
}

/**
 * Closes a server gracefully. It accepts no new connections, closes idle ones, and finishes running requests, or cuts
 * them at a deadline. Each response closes its connection (`Connection: close`), and no request that was pipelined
 * after it is started. Resolves when the last connection is closed and the service has cleaned up after cut transfers.
 * Works for any `node:http` or `node:https` server. For a server of `createNodeServer` it does not wait for connections
 * that have never sent a request or have not finished their TLS handshake.
 */
export async function closeNodeServer(
  server: HttpServer | HttpsServer,
  { deadlineSeconds = 0 }: CloseNodeServerOptions = {},
): Promise<void> {
  const isDeadline = typeof deadlineSeconds === "number" && deadlineSeconds >= 0;
  checkOption(isDeadline, "deadlineSeconds", "a number of seconds, or 0");
  const own = servers.get(server);
  const deadline =
    deadlineSeconds === 0 ? Number.POSITIVE_INFINITY : performance.now() + toMilliseconds(deadlineSeconds);
  let cut: readonly Exchange[] = [];

  function sweep(): void {
    const isOver = performance.now() >= deadline;
    if (own === undefined) {
      if (isOver) cut = cut.concat(cutServer(server));
      if (isOver) server.closeAllConnections();
      else server.closeIdleConnections();
      return;
    }
    for (const socket of own.unready.values()) socket.destroy();
    if (isOver) cut = cut.concat([...own.ready].map(cutSocket).filter((exchange) => exchange !== undefined));
    else for (const socket of own.ready) if (isIdle(socket)) socket.destroySoon();
  }

  startDraining(server);
  // The host's own responses must close their connections, too.
  if (own === undefined) server.prependListener("request", endConnection);
  server.once("listening", () => {
    stopDraining(server);
    server.off("request", endConnection);
  });
  await new Promise<void>((resolve) => {
    // Kept-alive connections become idle one by one as their responses end.
    const timer = setInterval(sweep, 100);
    const onClosed = (): void => {
      clearInterval(timer);
      resolve();
    };
    // At close, node:http also destroys connections whose last bytes are not sent yet: it counts them as idle. For our
    // own servers `sweep` closes only those that are really idle.
    if (own === undefined) server.close(onClosed);
    else NetServer.prototype.close.call(server, onClosed);
    sweep();
  });
  await settled(cut);
}

function describeTakenAddress(
  error: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number },
): string {
  const { address, port } = error;
  if (port === undefined || port < 0) return `Cannot listen on ${address}: another process uses this address.`;
  return `Cannot listen on port ${port} of ${address}: another process uses this port.`;
}

function endConnection(_req: IncomingMessage, res: ServerResponse): void {
  res.shouldKeepAlive = false;
}

/** Waits, for a limited time, until the service has finished its work on cut exchanges. */
async function settled(cut: readonly Exchange[]): Promise<void> {
  const patience = performance.now() + SETTLING_MILLISECONDS;
  while (performance.now() < patience && cut.some(({ responded }) => !responded)) {
    await wait(10);
  }
}

/** Cuts clients that are too slow while the server listens, and until its last connection is closed. */
function cutSlowClients(server: HttpServer | HttpsServer, { ready }: Connections, limits: ServerLimits): void {
  function* current(): Generator<Exchange> {
    for (const socket of ready) {
      const exchange = exchangeOf(socket);
      if (exchange !== undefined) yield exchange;
    }
  }

  server.on("listening", () => {
    server.once("close", enforceMinThroughput(current, limits, cutSlow));
  });
}

function toTlsOptions({ key, cert, ca }: NodeTlsOptions): Parameters<typeof createHttpsServer>[0] {
  const own = { key, cert, handshakeTimeout: 20_000 };
  if (ca === undefined) return own;
  return {
    ...own,
    ca: typeof ca === "string" || Buffer.isBuffer(ca) ? ca : [...ca],
    requestCert: true,
    rejectUnauthorized: false,
  };
}
