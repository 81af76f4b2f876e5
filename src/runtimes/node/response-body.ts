import type { Readable } from "node:stream";
import type { ByteSource } from "../../contracts/byte-source.ts";
import { findSource } from "../../http/source-response.ts";
import { type ChunkReader, toBytes } from "../chunk-reader.ts";

/** A response's body in the form in which it is sent: complete, in chunks, or none. */
export type SendableBody = string | Uint8Array | ChunkReader | undefined;

/** The kinds of body that the ponyfill's `Response` keeps unchanged in `bodyInit`. */
interface BodySource {
  readonly getReader?: () => ChunkReader;
  readonly locked?: boolean;
  readonly readable?: Readable;
  readonly read?: unknown;
  readonly stream?: () => ReadableStream<Uint8Array>;
}

/** The source of a response's body; `undefined` if the service has set none. */
export function openSource(response: Response): ByteSource | undefined {
  const init: unknown = "bodyInit" in response ? response.bodyInit : undefined;
  return typeof init === "object" && init !== null ? findSource(init) : undefined;
}

/** Opens a response's body: what the ponyfill's `Response` was created from, otherwise its `body` stream. */
export function openBody(response: Response): SendableBody {
  if (!("bodyInit" in response)) return response.body?.getReader();
  const init: unknown = response.bodyInit;
  if (init === null || init === undefined) return undefined;
  if (typeof init === "string") return init;
  if (ArrayBuffer.isView(init)) return toBytes(init);
  const source = init as BodySource & Readable;
  if (typeof source.read === "function") return toNodeReader(source);
  if (source.readable === undefined && typeof source.getReader === "function" && !source.locked) {
    return source.getReader();
  }
  if (typeof source.stream === "function") return source.stream().getReader();
  return openPonyfillStream(response.body as unknown as BodySource | null);
}

function openPonyfillStream(body: BodySource | null): SendableBody {
  return body?.readable === undefined ? body?.getReader?.() : toNodeReader(body.readable);
}

/** Reads a Node stream. `cancel` destroys the stream, because an iterator's `return` waits for its pending read. */
function toNodeReader(stream: Readable): ChunkReader {
  stream.on("error", () => undefined);
  const iterator: AsyncIterator<unknown> = stream[Symbol.asyncIterator]();
  return {
    read: () => iterator.next(),
    async cancel() {
      stream.destroy();
    },
  };
}

/** Releases a body that is not sent. */
export function discardBody(response: Response): void {
  try {
    const source = openSource(response);
    if (source !== undefined) {
      source.close().catch(() => undefined);
      return;
    }
    const body = openBody(response);
    if (typeof body === "object" && "cancel" in body) body.cancel().catch(() => undefined);
  } catch {
    // A locked or unknown body belongs to another reader.
  }
}
