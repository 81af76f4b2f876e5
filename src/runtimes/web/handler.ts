import type { Connection } from "../../contracts/connection.ts";
import type { Api, FileService, RequestHandler } from "../../contracts/file-service.ts";
import { checkOption } from "../../contracts/option-error.ts";
import { type Reply, type ReplyBody, releaseBody } from "../../http/reply.ts";
import { type ReplyHandler, toHeaders, toReplyStream } from "../../http/reply-handler.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { checkApi, findHandler, isOurs } from "../request-handler.ts";
import { openResponseBody, type ResponseBodyOptions } from "./response-body.ts";

/** Options of adapters for servers that call `(Request) => Response`. `Rest` are the further arguments of that call. */
export interface WebHandlerOptions<Rest extends readonly unknown[]> {
  /** The only API variant to serve. Default: all three, which `service.fetch` distinguishes by the request. */
  readonly api?: Api;
  /**
   * The host's own handler for requests whose URL is not the service's; it gets them untouched. What it throws reaches
   * the runtime. Default: such requests are 404.
   */
  readonly next?: (request: Request, ...rest: Rest) => Response | Promise<Response>;
}

/** How a runtime sends a response. */
export interface RespondOptions extends Pick<ResponseBodyOptions, "onCancel"> {
  /**
   * A body up to this length is read completely before the response starts. Bytes. Default: 131,072, one chunk of a
   * file.
   */
  readonly wholeBytes?: number;
  /** Converts a streamed body to the runtime's own kind. Default: the stream itself. */
  readonly toBody?: (stream: ReadableStream<Uint8Array>, length: number | undefined) => ReadableStream<Uint8Array>;
}

/** Responds to one request with a handler. */
type RespondToRequest<Rest extends readonly unknown[]> = (
  handler: ReplyHandler,
  request: Request,
  ...rest: Rest
) => Promise<Response>;

/** Checks the options of an adapter. @throws TypeError that names the wrong option. */
export function checkHandlerOptions({ api, next }: WebHandlerOptions<never>): void {
  checkApi(api);
  checkOption(next === undefined || typeof next === "function", "next", "a function");
}

/** Combines a service or a handler with the host's own `next`. @throws TypeError that names the wrong option. */
export function mountHandler<Rest extends readonly unknown[]>(
  service: FileService | RequestHandler,
  options: WebHandlerOptions<Rest>,
  respondTo: RespondToRequest<Rest>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  checkHandlerOptions(options);
  const { api, next } = options;
  const handler = findHandler(service, api);
  return async (request, ...rest) => {
    if (next !== undefined && !isOurs(service, request)) return next(request, ...rest);
    return respondTo(handler, request, ...rest);
  };
}

/**
 * Calls the handler, and converts its reply to a `Response` that the runtime sends correctly. Never rejects. A handler
 * must not reject either; if it does, the client gets a blank 500.
 */
export async function respond(
  handler: ReplyHandler,
  request: Request,
  connection: Connection,
  options: RespondOptions = {},
): Promise<Response> {
  try {
    return await toNativeResponse(request, await handler(request, connection), options);
  } catch {
    return new Response(null, { status: 500 });
  }
}

async function toNativeResponse(request: Request, reply: Reply, options: RespondOptions): Promise<Response> {
  const { status, body } = reply;
  const { toBody, wholeBytes = 131_072, onCancel } = options;
  const { signal } = request;
  try {
    const headers = toHeaders(reply.headers);
    if (body === undefined || request.method === "HEAD" || status === 204 || status === 304) {
      releaseBody(body);
      return new Response(null, { status, headers });
    }
    const announced = headers.get("content-length");
    const length = announced === null ? undefined : Number(announced);
    const reader = openBody(body, signal);
    const opened = await openResponseBody(reader, { length, wholeBytes, signal, ...(onCancel && { onCancel }) });
    const native = "byteLength" in opened ? opened : (toBody?.(opened, length) ?? opened);
    return new Response(native, { status, headers });
  } catch (error) {
    releaseBody(body);
    throw error;
  }
}

function openBody(body: ReplyBody, signal: AbortSignal): Uint8Array | ChunkReader {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if ("byteLength" in body) return body;
  return ("readInto" in body ? toReplyStream(body, signal) : body).getReader();
}
