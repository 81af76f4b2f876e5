import { FileferryError } from "./error.ts";
import type { ClientOptions, Sha256Hash, UploadContent } from "./options.ts";
import { isStream, openContent, readToEnd, toBlob } from "./streams.ts";

/** Asks for the digest that {@link verifyResponse} needs (RFC 9530 4). */
export const WANTED_DIGEST = { "Want-Repr-Digest": "sha-256=1" } as const;

/**
 * Reads content, and returns the header field with its digest (RFC 9530 3).
 * @throws TypeError for a stream.
 * @throws ContentError, or the reason of the signal.
 */
export async function toDigestHeader(
  content: UploadContent,
  createSha256: ClientOptions["createSha256"],
  signal: AbortSignal | undefined,
): Promise<{ readonly "Repr-Digest": string }> {
  if (isStream(content)) throw new TypeError("A stream has no digest before it is sent.");
  const hash = createHash(createSha256);
  const stream = typeof content === "function" ? await openContent(content, 0, signal) : toBlob(content).stream();
  const hashing = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk) {
      hash.update(chunk);
    },
  });
  await readToEnd(stream, signal, hashing);
  return { "Repr-Digest": `sha-256=:${await toBase64Digest(hash)}:` };
}

/**
 * Returns a response whose content fails at its end if it does not have the digest of the response. `hash` has got no
 * bytes yet.
 * @throws FileferryError `digest-missing` if it has none.
 */
export async function verifyResponse(response: Response, hash: Sha256Hash): Promise<Response> {
  const { status, statusText, headers, url, body } = response;
  if (status === 304) return response;
  const [, expected] = /(?:^|[ ,])sha-256=:([\w+/=]+):/.exec(headers.get("Repr-Digest") ?? "") ?? [];
  if (expected === undefined) {
    await body?.cancel();
    throw new FileferryError("The service has sent no digest.", { code: "digest-missing", status });
  }
  const verifier = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      hash.update(chunk);
      controller.enqueue(chunk);
    },
    async flush() {
      if ((await toBase64Digest(hash)) === expected) return;
      throw new FileferryError("The content does not match its digest.", { code: "digest-mismatch", status });
    },
  });
  const content = body ?? new Blob([]).stream();
  const verified = new Response(content.pipeThrough(verifier), { status, statusText, headers });
  return Object.defineProperty(verified, "url", { value: url });
}

/** The part of the global object that Node, Deno and Bun have, and browsers do not. */
interface CryptoHost {
  readonly process?: {
    readonly getBuiltinModule?: (name: "node:crypto") => { readonly createHash: (algorithm: string) => Sha256Hash };
  };
}

/** @throws TypeError where the platform has no SHA-256 of content in parts, and the client none of its own. */
export function createHash(createSha256: ClientOptions["createSha256"]): Sha256Hash {
  if (createSha256 !== undefined) return createSha256();
  const crypto = (globalThis as CryptoHost).process?.getBuiltinModule?.("node:crypto");
  if (crypto === undefined) throw new TypeError("Digests need the option createSha256 here.");
  return crypto.createHash("sha256");
}

async function toBase64Digest(hash: Sha256Hash): Promise<string> {
  return btoa(String.fromCharCode(...(await hash.digest())));
}
