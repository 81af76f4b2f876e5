import type { Api } from "../../contracts/api.ts";
import type { Connection } from "../../contracts/connection.ts";
import type { FileService, RequestHandler } from "../../contracts/file-service.ts";
import { checkOption } from "../../contracts/option-error.ts";
import { Response } from "../../platform/fetch.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { checkApi, isOurs, toRequestHandler } from "../request-handler.ts";
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
  /** Opens the body of a response; `undefined` if there is none. Default: its `body`. */
  readonly open?: (response: Response) => Uint8Array | ChunkReader | undefined;
  /** Creates the response. Default: of the class that the service returns. */
  readonly create?: (body: BodyInit | null, status: number, headers: Headers | undefined) => Response;
}

/** Responds to one request with a handler. */
type RespondToRequest<Rest extends readonly unknown[]> = (
  handler: RequestHandler,
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
  const handler = toRequestHandler(service, api);
  return async (request, ...rest) => {
    if (next !== undefined && !isOurs(service, request)) return next(request, ...rest);
    return respondTo(handler, request, ...rest);
  };
}

/**
 * Calls the handler, and converts its response to a form that the runtime sends correctly. Never rejects. A handler
 * must not reject either; if it does, the client gets a blank 500.
 */
export async function respond(
  handler: RequestHandler,
  request: Request,
  connection: Connection,
  options: RespondOptions = {},
): Promise<Response> {
  const { create = createResponse } = options;
  try {
    return await toNativeResponse(request, await handler(request, connection), { ...options, create });
  } catch {
    return create(null, 500, undefined);
  }
}

async function toNativeResponse(
  request: Request,
  response: Response,
  options: RespondOptions & Required<Pick<RespondOptions, "create">>,
): Promise<Response> {
  const { open = openStream, toBody, create, wholeBytes = 131_072, onCancel } = options;
  const { status, headers } = response;
  if (request.method === "HEAD" || status === 204 || status === 304) {
    discard(response, open);
    return create(null, status, headers);
  }
  const body = open(response);
  if (body === undefined) return create(null, status, headers);
  const announced = headers.get("content-length");
  const length = announced === null ? undefined : Number(announced);
  const opened = await openResponseBody(body, {
    length,
    wholeBytes,
    signal: request.signal,
    ...(onCancel && { onCancel }),
  });
  return create("byteLength" in opened ? opened : (toBody?.(opened, length) ?? opened), status, headers);
}

/** Releases a body that is not sent. */
function discard(response: Response, open: NonNullable<RespondOptions["open"]>): void {
  try {
    const body = open(response);
    if (body !== undefined && "cancel" in body) body.cancel().catch(() => undefined);
  } catch {
    // A locked body belongs to another reader.
  }
}

function openStream({ body }: Response): ChunkReader | undefined {
  return body?.getReader();
}

function createResponse(body: BodyInit | null, status: number, headers: Headers | undefined): Response {
  return new Response(body, headers === undefined ? { status } : { status, headers });
}
