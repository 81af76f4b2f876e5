/** What a request is sent with beyond its method and headers. */
export interface S3RequestBody {
  readonly body: BodyInit;
  /** Of the whole, where the runtime does not tell it by itself. */
  readonly contentLength?: number;
  readonly duplex?: "half";
}

/** What is asked of a runtime here. */
interface Runtime {
  readonly process?: { readonly versions?: Readonly<Record<string, string | undefined>> };
  readonly navigator?: { readonly userAgent?: string };
}

/** Smaller bodies are not worth a stream. */
const LARGE_BYTES = 262_144;
const CHUNK_BYTES = 131_072;

/** Node alone sends a stream with the length that the headers name; elsewhere it would go out in HTTP's chunks, which stores refuse. */
const isNode = isNodeItself(globalThis as Runtime);

/**
 * Bytes as a body. Node's `fetch` copies bytes that it is given, and each copy of a part lives until all garbage is collected: there large
 * ones go as a stream, which is not copied.
 */
export function toRequestBody(bytes: Uint8Array<ArrayBuffer>): S3RequestBody {
  if (!isNode || bytes.byteLength < LARGE_BYTES) return { body: bytes };
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(bytes.subarray(sent, sent + CHUNK_BYTES));
        sent += CHUNK_BYTES;
        if (sent >= bytes.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, contentLength: bytes.byteLength, duplex: "half" };
}

function isNodeItself({ process, navigator }: Runtime): boolean {
  const { node, deno, bun } = process?.versions ?? {};
  return node !== undefined && deno === undefined && bun === undefined && navigator?.userAgent !== "Cloudflare-Workers";
}
