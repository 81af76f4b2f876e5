import type { Connection } from "../../contracts/connection.ts";
import type { FileService, RequestHandler } from "../../contracts/file-service.ts";
import { checkOption } from "../../contracts/option-error.ts";
import { Response } from "../../platform/fetch.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { type Api, checkApi, isOurs, toRequestHandler } from "../request-handler.ts";
import { openResponseBody, type ResponseBodyOptions } from "./response-body.ts";

/** How a service is mounted on a runtime whose servers call `(Request) => Response`; `Rest` is what they hand over beside the request. */
export interface WebHandlerOptions<Rest extends readonly unknown[]> {
  /** The one API variant to answer with. Default: all three, as `service.fetch` tells them apart. */
  readonly api?: Api;
  /**
   * The host's own handler: gets, untouched, every request whose URL is not the service's. Default: they are answered 404. What it throws or rejects with
   * is the host's.
   */
  readonly next?: (request: Request, ...rest: Rest) => Response | Promise<Response>;
}

/** What a runtime makes of an answer. */
export interface RespondOptions extends Pick<ResponseBodyOptions, "onCancel"> {
  /** What is promised to be no longer is read whole before the answer begins, in bytes. Default: 131,072, one chunk of a file. */
  readonly wholeBytes?: number;
  /** Makes the runtime's own body of one that is sent as it is read. Default: the stream itself. */
  readonly toBody?: (stream: ReadableStream<Uint8Array>, length: number | undefined) => ReadableStream<Uint8Array>;
  /** Opens the body of an answer; `undefined` where there is none. Default: its `body`. */
  readonly open?: (response: Response) => Uint8Array | ChunkReader | undefined;
  /** Makes the answer. Default: of the class that the service answers with. */
  readonly create?: (body: BodyInit | null, status: number, headers: Headers | undefined) => Response;
}

/** Answers one request with a handler. */
type RespondToRequest<Rest extends readonly unknown[]> = (
  handler: RequestHandler,
  request: Request,
  ...rest: Rest
) => Promise<Response>;

/** Checks the options of an adapter. @throws TypeError naming the option that is wrong. */
export function checkHandlerOptions({ api, next }: WebHandlerOptions<never>): void {
  checkApi(api);
  checkOption(next === undefined || typeof next === "function", "next", "a function");
}

/** The service, or a handler, beside the host's own `next`. @throws TypeError naming the option that is wrong. */
export function mountHandler<Rest extends readonly unknown[]>(
  service: FileService | RequestHandler,
  options: WebHandlerOptions<Rest>,
  answer: RespondToRequest<Rest>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  checkHandlerOptions(options);
  const { api, next } = options;
  const handler = toRequestHandler(service, api);
  return async (request, ...rest) => {
    if (next !== undefined && !isOurs(service, request)) return next(request, ...rest);
    return answer(handler, request, ...rest);
  };
}

/**
 * Answers a request with what the handler makes of it, in a form that the runtime sends as it is meant. Never rejects: neither does a handler, by its contract;
 * should it, the client learns nothing of why.
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

/** Lets go of a body that is not sent. */
function discard(response: Response, open: NonNullable<RespondOptions["open"]>): void {
  try {
    const body = open(response);
    if (body !== undefined && "cancel" in body) body.cancel().catch(() => undefined);
  } catch {
    // A locked body belongs to somebody else.
  }
}

function openStream({ body }: Response): ChunkReader | undefined {
  return body?.getReader();
}

function createResponse(body: BodyInit | null, status: number, headers: Headers | undefined): Response {
  return new Response(body, headers === undefined ? { status } : { status, headers });
}
