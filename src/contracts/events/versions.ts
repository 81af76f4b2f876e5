import type { EventEnvelope, FileLocation } from "./envelope.ts";

/** Which version of a file an event is about. */
export interface VersionId {
  /** The ID of the version. */
  readonly version: string;
}

/** 49113: an account has removed a version of a file for good. */
export interface VersionPurged extends EventEnvelope {
  readonly id: 49113;
  /** The file, which stays. */
  readonly data: FileLocation & VersionId;
}
