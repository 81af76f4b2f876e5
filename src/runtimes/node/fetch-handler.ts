import type { Api } from "../../contracts/api.ts";
import { toByteStream } from "../../contracts/byte-source.ts";
import type { Connection } from "../../contracts/connection.ts";
import type { FileService, RequestHandler } from "../../contracts/file-service.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { toRequestHandler } from "../request-handler.ts";
import { respond } from "../web/handler.ts";
import { openBody, openSource } from "./response-body.ts";

/** A handler that takes the platform's own `Request` and returns its own `Response`. */
export type FetchHandler = (request: Request, connection?: Connection) => Promise<Response>;

/** Options of {@link toFetchHandler}. */
export interface FetchHandlerOptions {
  /** The only API variant to serve. Default: all three, which `service.fetch` distinguishes by the request. */
  readonly api?: Api;
}

/**
 * Turns the service, or any request handler, into a handler for frameworks that use `Request` and `Response` on Node,
 * such as Hono and Next.js. On Node, `service.fetch` returns the ponyfill's `Response`, which some frameworks refuse;
 * this handler returns Node's own, and never rejects. A body that fails before its first bytes is a 500. One that fails
 * later, or ends before its `Content-Length`, breaks off.
 *
 * The host identifies the client: by `toNodeConnection(socket)` if it knows the socket, otherwise by the option
 * `clientForwardedHeader`.
 * @throws TypeError for an unknown `api`.
 */
export function toFetchHandler(service: FileService | RequestHandler, { api }: FetchHandlerOptions = {}): FetchHandler {
  const handler = toRequestHandler(service, api);
  return (request, connection = {}) =>
    respond(handler, request, connection, { open: openAnyBody, create: createPlatformResponse });
}

/** Opens the body of the ponyfill's `Response`, or of the platform's own. */
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
