import type { Peer, Trace } from "./connection.ts";
import type { Metadata } from "./events/transfers.ts";

/** A file that a client sends, on its way into the storage. The same object in all calls about one upload. */
export interface Upload {
  /** The account's virtual path of the file to be. */
  readonly path: string;
  /** The storage's path. */
  readonly realPath: string;
  /** Bytes that have come so far; all of them when it is decided on. */
  readonly size: number;
  /** What came with it (4.4); absent where nothing did, or none is configured. */
  readonly metadata?: Metadata;
  readonly account: { readonly name: string; readonly uuid: string; readonly email: string; readonly group: string };
  readonly peer?: Peer;
  readonly trace?: Trace;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/**
 * Decides on an upload after its last byte and before it can be seen. A text refuses it: the client is answered 422 with it, and what was there before stays. `undefined` lets it
 * pass; anything else is a defect, which refuses it as well. The message
 * of an `HttpError` that it throws does the same; any other error is logged and answered 500, and the upload is refused as well. One that it lets pass may still fail in the storage: event 40022 tells.
 */
export type DecideUpload = (upload: Upload) => string | undefined | Promise<string | undefined>;

/** The same for who has to see the content, such as a scanner for viruses. */
export interface UploadGuard {
  /**
   * Gets each chunk before it is written, which waits until the promise settles. The chunk's memory may be used again then. What it throws refuses the upload as
   * in `decide`.
   */
  receive?(upload: Upload, chunk: Uint8Array): unknown;
  readonly decide: DecideUpload;
  /** Seconds that `receive` and `decide` have for an answer; without one the upload fails, 500. Default: 300. */
  readonly timeoutSeconds?: number;
  /** Called once for an upload that is not decided on, as it failed before, in `receive`, or while `decide` was at it. What it throws is logged. */
  abandon?(upload: Upload): unknown;
}
