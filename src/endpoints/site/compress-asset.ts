import { isLoopShared } from "../../platform/event-loop.ts";
import { readBytes } from "../../platform/read-bytes.ts";

/** The compressed assets by their names, which change with their content. */
const compressed = new Map<string, Promise<Uint8Array | undefined>>();

/**
 * Whether the service compresses assets itself. On Workers it does not: Cloudflare compresses, and workerd would encode
 * the bytes a second time. Some other runtimes cannot.
 */
export function canCompress(): boolean {
  return isLoopShared && typeof CompressionStream === "function";
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
