import { type IncomingHttpHeaders, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { describeSystemError } from "../failure.ts";

const TIMEOUT_MS = 10_000;

/** A response as it arrived, or why there is none. */
export type PublicResponse =
  | { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer }
  | { readonly failure: string };

/** A request to the public address. Its path is sent as it is. */
export interface PublicRequest {
  readonly origin: URL;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the content; without it there is none. The promise is awaited before the request ends. */
  readonly send?: (write: (chunk: string) => void) => Promise<void>;
  /** Do not send the content that `Content-Length` announces: wait for a response to the headers. */
  readonly headersOnly?: true;
}

/** Sends a request. Never rejects. */
export function askPublicly({
  origin,
  path,
  method = "GET",
  headers,
  send,
  headersOnly,
}: PublicRequest): Promise<PublicResponse> {
  return new Promise((resolve) => {
    const { hostname, port, protocol } = origin;
    const options: RequestOptions = { hostname: hostname.replace(/^\[|\]$/g, ""), port, path, method, agent: false };
    const request = (protocol === "https:" ? requestHttps : requestHttp)({ ...options, ...(headers && { headers }) });
    const timer = setTimeout(() => request.destroy(new Error("no response in time")), TIMEOUT_MS);
    request.on("error", (error) => resolve({ failure: describeSystemError(error) }));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", (error) => resolve({ failure: describeSystemError(error) }));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
        request.destroy();
      });
    });
    request.on("close", () => clearTimeout(timer));
    if (headersOnly) request.flushHeaders();
    else if (send === undefined) request.end();
    else void send((chunk) => void request.write(chunk)).then(() => request.end());
  });
}
