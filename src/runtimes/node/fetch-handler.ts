import { toByteStream } from "../../contracts/byte-source.ts";
import type { Connection } from "../../contracts/connection.ts";
import type { FileService, RequestHandler } from "../../contracts/file-service.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { type Api, toRequestHandler } from "../request-handler.ts";
import { respond } from "../web/handler.ts";
import { openBody, openSource } from "./response-body.ts";

/** A handler of the platform's own `Request`, answering with its own `Response`. */
export type FetchHandler = (request: Request, connection?: Connection) => Promise<Response>;

/** How a service is mounted into a framework of `Request` and `Response`. */
export interface FetchHandlerOptions {
  /** The one API variant to answer with. Default: all three, as `service.fetch` tells them apart. */
  readonly api?: Api;
}

/**
 * The service, or any handler of requests, for frameworks that speak `Request` and `Response` on Node, as Hono and Next.js do. `service.fetch` answers with
 * a light `Response` there, which they do not all take; this one answers with Node's own. It never rejects. A body that fails at once is a 500, and one that fails or
 * ends before its `Content-Length` later on breaks off.
 *
 * Which client asks, the host tells: `toNodeConnection(socket)` where it knows the socket, else the option `clientForwardedHeader`.
 * @throws TypeError for an unknown `api`.
 */
export function toFetchHandler(service: FileService | RequestHandler, { api }: FetchHandlerOptions = {}): FetchHandler {
  const handler = toRequestHandler(service, api);
  return (request, connection = {}) =>
    respond(handler, request, connection, { open: openAnyBody, create: createPlatformResponse });
}

/** The body of a light `Response`, or of the platform's own. */
function openAnyBody(response: Response): Uint8Array | ChunkReader | undefined {
  const source = openSource(response);
  if (source !== undefined) return toByteStream(source).getReader();
  const body = openBody(response);
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

function createPlatformResponse(body: BodyInit | null, status: number, headers: Headers | undefined): Response {
  const own = new globalThis.Headers();
  headers?.forEach((value, name) => {
    own.append(name, value);
  });
  return new globalThis.Response(body, { status, headers: own });
}
