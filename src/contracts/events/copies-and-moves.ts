import type { EventEnvelope, FileLocation, Reason } from "./envelope.ts";

/** The two paths of a copy or a move. In events of failures, only the first 1,024 characters of each. */
export interface TwoLocations extends FileLocation {
  /** The new virtual path. */
  readonly destination: string;
  /** The new path in the storage. */
  readonly destination_real_path: string;
}

/** Whether something was replaced. */
export interface Replaced {
  readonly replaced: boolean;
}

/** 40055: a file or folder was moved or renamed, a folder with everything in it. */
export interface MemberMoved extends EventEnvelope {
  readonly id: 40055;
  readonly data: TwoLocations & Replaced;
}

/** 40056: a file or folder could not be moved or renamed. */
export interface MemberMoveFailed extends EventEnvelope {
  readonly id: 40056;
  readonly data: TwoLocations & Reason;
}

/** 49001: a file or folder was copied, a folder with everything in it. */
export interface MemberCopied extends EventEnvelope {
  readonly id: 49001;
  readonly data: TwoLocations & Replaced;
}

/** 49002: a file or folder could not be copied. */
export interface MemberCopyFailed extends EventEnvelope {
  readonly id: 49002;
  readonly data: TwoLocations & Reason;
}
