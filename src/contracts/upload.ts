import type { Peer, Trace } from "./connection.ts";
import type { EventLink } from "./events/envelope.ts";
import type { Metadata, ScanResult } from "./events/transfers.ts";

/** A file that a client uploads, before it is in the storage. All calls for one upload get the same object. */
export interface Upload {
  /** The virtual path of the file, as the account sees it. */
  readonly path: string;
  /** The path of the file in the storage. */
  readonly realPath: string;
  /** The number of bytes received so far; for `decide` it is the size of the file. */
  readonly size: number;
  /** The metadata of the upload (4.4); absent if the client sent none, or if none is configured. */
  readonly metadata?: Metadata;
  readonly account: { readonly name: string; readonly uuid: string; readonly email: string; readonly group: string };
  /** The link that the upload came by. */
  readonly link?: EventLink;
  readonly peer?: Peer;
  readonly trace?: Trace;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** What a scanner has found: a guard sets it, and the event that ends the upload has it. */
  scan?: ScanResult;
}

/**
 * Decides on an upload after its last byte has arrived and before clients can see the file.
 *
 * - If it returns `undefined`, the upload is accepted. It may still fail in the storage; event 40022 reports that.
 * - If it returns a text, or throws an `HttpError`, the upload is refused: the response is 422 with this text or with
 *   the error's message, and an existing file stays unchanged. An `HttpError` of the failure `unavailable` (503) or
 *   `too-large` (413) keeps its status and its header fields, such as `Retry-After`.
 * - If it throws any other error, or returns any other value, the upload is refused, the response is 500, and the error
 *   is logged.
 */
export type DecideUpload = (upload: Upload) => string | undefined | Promise<string | undefined>;

/** As {@link DecideUpload}, for code that must see the content, such as a virus scanner. */
export interface UploadGuard {
  /**
   * Gets each chunk before it is written; the write waits for the returned promise. Do not keep the chunk: its memory
   * is reused afterwards. If it throws, the upload is refused as in `decide`.
   */
  receive?(upload: Upload, chunk: Uint8Array): unknown;
  readonly decide: DecideUpload;
  /**
   * Time limit for each call of `receive` and `decide`, in seconds. Without a result by then, the upload fails with
   * 500. Default: 300.
   */
  readonly timeoutSeconds?: number;
  /**
   * Called once for an upload that ends without a decision: it failed before, it failed in `receive`, it failed while
   * `decide` was running, or an earlier guard refused it. If it throws, the error is logged.
   */
  abandon?(upload: Upload): unknown;
}
