import { isHttpError } from "../../../src/http/http-error.ts";

/** A text as the bytes of a body. */
export function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The code of what a function throws; `undefined` if it returns. */
export function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (isHttpError(error)) return error.code;
    throw error;
  }
}

/** Header fields of one name. */
export function field(name: string, value: string): Headers {
  return new Headers({ [name]: value });
}
