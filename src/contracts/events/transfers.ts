import type { EventEnvelope, FileLocation, Reason } from "./envelope.ts";
import type { VersionId } from "./versions.ts";

/** 40021: an upload started. 40017 or 40022 ends it. */
export interface UploadStarted extends EventEnvelope {
  readonly id: 40021;
  readonly data: UploadData;
}

/** 40017: a file was uploaded successfully. */
export interface UploadDone extends EventEnvelope {
  readonly id: 40017;
  readonly data: UploadData & WriteTotals & Scanned;
}

/** 40022: an upload failed; the previous file stays. */
export interface UploadFailed extends EventEnvelope {
  readonly id: 40022;
  readonly data: UploadData & WriteTotals & Reason;
}

/** 40004: a file was opened for a download. 40039, 40040 or 40018 ends it. */
export interface FileOpened extends EventEnvelope {
  readonly id: 40004;
  readonly data: DownloadData;
}

/** 40035: a requested file could not be opened. */
export interface FileOpenFailed extends EventEnvelope {
  readonly id: 40035;
  readonly data: DownloadData & Reason;
}

/** 40039: a file, or the requested parts, was fully handed over for sending. */
export interface DownloadDone extends EventEnvelope {
  readonly id: 40039;
  readonly data: DownloadData & ReadTotals & HandedOver;
}

/** 40040: a file could not be read to its end, or the end was not reported. */
export interface DownloadFailed extends EventEnvelope {
  readonly id: 40040;
  readonly data: DownloadData & ReadTotals & Reason & HandedOver;
}

/** 40018: the client left during a download, or nginx did not send all of it. */
export interface DownloadAborted extends EventEnvelope {
  readonly id: 40018;
  readonly data: DownloadData & ReadTotals & Reason & HandedOver;
}

/** 40006: the listing of a folder started. 40034 or 40014 ends it. */
export interface ListingStarted extends EventEnvelope {
  readonly id: 40006;
  readonly data: FileLocation;
}

/** 40034: a listing was fully handed over for sending. */
export interface ListingDone extends EventEnvelope {
  readonly id: 40034;
  readonly data: FileLocation & ReadTotals;
}

/** 40014: a listing failed, or the client disconnected. */
export interface ListingFailed extends EventEnvelope {
  readonly id: 40014;
  readonly data: FileLocation & ReadTotals & Reason;
}

/** 40016: an archive of a folder, or of members of it, started. 40025 or 40041 ends it. */
export interface ArchiveStarted extends EventEnvelope {
  readonly id: 40016;
  readonly data: FileLocation;
}

/** 40025: an archive was fully handed over for sending. */
export interface ArchiveDone extends EventEnvelope {
  readonly id: 40025;
  readonly data: FileLocation & ReadTotals;
}

/** 40041: an archive failed, or the client disconnected. */
export interface ArchiveFailed extends EventEnvelope {
  readonly id: 40041;
  readonly data: FileLocation & ReadTotals & Reason;
}

/** Which other server sends the content of a download (the option `offload`). */
export interface HandedOver {
  /** Absent: the service sends it. Without reports `total_read` is what was announced. */
  readonly handed_over?: "nginx" | "apache" | "presigned";
}

/** The file of a download; with `version` if it is a version of the file. */
export type DownloadData = FileLocation & Partial<VersionId>;

/** The file of an upload; with `version` if it is replaced by one of its versions. */
export interface UploadData extends FileLocation, Partial<VersionId> {
  /** The parsed metadata (4.4); absent if the client sent none, or if none is configured. */
  readonly metadata?: Metadata;
}

/** The metadata of an upload: the values of each key, in their order (4.4, rule 4). */
export type Metadata = Readonly<Record<string, readonly string[]>>;

/** What a scanner has found: nothing; or the file was accepted although it is too large, or it did not answer. */
export type ScanResult = "clean" | "skipped" | "unavailable";

/** What a scanner has found in an upload. */
export interface Scanned {
  /** Absent if no scanner has seen the file, or if it has found something. */
  readonly scan?: ScanResult;
}

/** How much of an upload was received. */
export interface WriteTotals {
  /** Bytes that were received. */
  readonly total_write: number;
  /** Seconds. */
  readonly duration: number;
  /** Bytes per second. */
  readonly write_speed: number;
}

/** How much of a file, listing or archive was sent. */
export interface ReadTotals {
  /** Bytes of the response's content. */
  readonly total_read: number;
  /** Seconds. */
  readonly duration: number;
  /** Bytes per second. */
  readonly read_speed: number;
}
