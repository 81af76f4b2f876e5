import { createError } from "../http/errors.ts";

/** The values of `Depth` (RFC 4918 10.2). */
export type Depth = "0" | "1" | "infinity";

/** The values that each method allows; the last one applies if the header is absent. */
const ALLOWED = {
  PROPFIND: ["0", "1", "infinity"],
  COPY: ["0", "infinity"],
  LOCK: ["0", "infinity"],
  MOVE: ["infinity"],
  DELETE: ["infinity"],
} as const satisfies Readonly<Record<string, readonly Depth[]>>;

/** A method that has a depth. */
export type DepthMethod = keyof typeof ALLOWED;

/**
 * Parses the `Depth` header of a request for a folder. On a file it has no meaning.
 * @throws HttpError `malformed` for a value that the method does not allow.
 */
export function parseDepth<M extends DepthMethod>(method: M, headers: Headers): (typeof ALLOWED)[M][number] {
  const allowed: readonly (typeof ALLOWED)[M][number][] = ALLOWED[method];
  const value = headers.get("depth")?.toLowerCase();
  const depth = value === undefined ? allowed.at(-1) : allowed.find((one) => one === value);
  if (depth === undefined) throw createError("depth-invalid");
  return depth;
}
