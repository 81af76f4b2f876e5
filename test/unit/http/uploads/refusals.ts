import { type HttpError, isHttpError } from "../../../../src/http/http-error.ts";
import { toStatus } from "../../../../src/request/errors.ts";

/** The status and the code of what a function throws; `undefined` if it returns. */
export async function refusalOf(run: () => unknown): Promise<string | undefined> {
  const error = await errorOf(run);
  return error && `${toStatus(error.failure, "json")} ${error.code}`;
}

/** The refusal that a function throws; `undefined` if it returns. */
export async function errorOf(run: () => unknown): Promise<HttpError | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (isHttpError(error)) return error;
    throw error;
  }
}

/** A request to the URL of a folder, or another URL. */
export function toRequest(
  method: string,
  headers: HeadersInit,
  { body, path = "/home/folder/" }: { readonly body?: BodyInit; readonly path?: string } = {},
): Request {
  return new Request(`http://files.example${path}`, { method, headers, ...(body !== undefined && { body }) });
}

/** A text in Base64. */
export function base64(text: string | Uint8Array): string {
  return Buffer.from(text).toString("base64");
}
