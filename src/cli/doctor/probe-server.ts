import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { ServeSettings } from "../config/serve-settings.ts";

/** A request at the time of its arrival, with the address that it comes from. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly address: string;
}

/** A server in place of the service, which the proxy sends requests to. */
export interface ProbeServer {
  /** Resolves with the next request whose path has the text, as soon as its headers are there. */
  arrival(text: string): Promise<Arrival>;
  close(): Promise<void>;
}

/**
 * Listens where the service would. `respond` answers the requests. `undefined` if something else listens there, such as
 * the service. Rejects if the address cannot be used.
 */
export async function startProbeServer(
  { host, port, tls }: Pick<ServeSettings, "host" | "port" | "tls">,
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ProbeServer | undefined> {
  const waiting = new Set<(request: IncomingMessage) => void>();
  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    for (const notice of waiting) notice(request);
    respond(request, response);
  }

  const server =
    tls === undefined ? createServer(onRequest) : createTlsServer({ key: tls.key, cert: tls.cert }, onRequest);
  // The probe of the upload limit needs a final response, not a request for the content.
  server.on("checkContinue", onRequest);
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }

  function arrival(text: string): Promise<Arrival> {
    return new Promise((resolve) => {
      const notice = (request: IncomingMessage): void => {
        if (request.url?.includes(text) !== true) return;
        waiting.delete(notice);
        resolve({ request, address: (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "") });
      };
      waiting.add(notice);
    });
  }

  async function close(): Promise<void> {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  return { arrival, close };
}
