import Negotiator from "negotiator";
import { isLoopShared } from "../../platform/event-loop.ts";
import { readBytes } from "../../platform/read-bytes.ts";

/** The compressed assets by their names, which change with their content. */
const compressed = new Map<string, Promise<Uint8Array | undefined>>();
/** Maximum length of an `Accept-Encoding` value that is parsed. */
const MAX_CHARACTERS = 500;

/**
 * Whether a response to this request may be compressed by gzip (RFC 9110 12.5.3). Cloudflare compresses by itself; some
 * other runtimes cannot.
 */
export function acceptsGzip({ headers }: Request): boolean {
  if (!isLoopShared || typeof CompressionStream !== "function") return false;
  const accepted = headers.get("accept-encoding")?.slice(0, MAX_CHARACTERS) ?? "";
  return new Negotiator({ headers: { "accept-encoding": accepted } }).encodings(["gzip", "identity"])[0] === "gzip";
}

/** Compresses an asset by gzip, once for all requests. Returns `undefined` if that makes it no smaller. */
export function compressAsset(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array | undefined> {
  const known = compressed.get(name);
  if (known !== undefined) return known;
  const zipped = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const compressing = readBytes(zipped.getReader(), bytes.byteLength);
  compressed.set(name, compressing);
  return compressing;
}
