import type { Peer } from "./connection.ts";

/** Something that happened in the service (6), told to the operator. Discriminated on `id`. */
export type FileEvent = UploadStarted | UploadDone | UploadFailed;

/** 40021: an upload begins. */
export interface UploadStarted extends EventEnvelope {
  readonly id: 40021;
  readonly data: UploadData;
}

/** 40017: a file was uploaded with success. */
export interface UploadDone extends EventEnvelope {
  readonly id: 40017;
  readonly data: UploadData & TransferTotals;
}

/** 40022: an upload failed; what was there before is still there. */
export interface UploadFailed extends EventEnvelope {
  readonly id: 40022;
  readonly data: UploadData & TransferTotals;
}

/** What every event carries (CONTRACT 8). It never holds a password, a session ID or an `Authorization` value. */
export interface EventEnvelope {
  /** One English sentence. */
  readonly message: string;
  readonly timestamp: {
    /** POSIX seconds. */
    readonly timestamp: number;
    readonly iso_8601: string;
  };
  readonly account?: {
    readonly uuid: string;
    readonly name: string;
    readonly email: string;
    readonly peer?: Peer;
  };
  readonly component: { readonly uuid: string; readonly type: "http" | "https" };
  readonly server: { readonly uuid: string };
}

/** The file of an upload. */
export interface UploadData {
  /** The account's virtual path. */
  readonly path: string;
  /** The storage's path. */
  readonly real_path: string;
  /** The parsed metadata (4.4). */
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
}

/** What a finished upload came to. */
export interface TransferTotals {
  /** Bytes. */
  readonly total_write: number;
  /** Seconds. */
  readonly duration: number;
  /** Bytes per second. */
  readonly write_speed: number;
  readonly details?: string;
}
