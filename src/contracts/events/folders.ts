import type { LockDepth, LockScope } from "../lock.ts";
import type { EventEnvelope, FileLocation, Reason } from "./envelope.ts";
import type { TrashId } from "./trash.ts";

/** 40010: a folder was created. */
export interface FolderCreated extends EventEnvelope {
  readonly id: 40010;
  readonly data: FileLocation;
}

/** 40011: a folder could not be created. */
export interface FolderCreateFailed extends EventEnvelope {
  readonly id: 40011;
  readonly data: FileLocation & Reason;
}

/** 40030: a folder could not be created because the name already exists. */
export interface FolderAlreadyExists extends EventEnvelope {
  readonly id: 40030;
  readonly data: FileLocation & Reason;
}

/** 40012: a file was removed. */
export interface FileRemoved extends EventEnvelope {
  readonly id: 40012;
  /** With `trash` if it can be restored. */
  readonly data: FileLocation & Partial<TrashId>;
}

/** 40013: a file could not be removed. */
export interface FileRemoveFailed extends EventEnvelope {
  readonly id: 40013;
  readonly data: FileLocation & Reason;
}

/** 40026: a folder was removed with everything in it. */
export interface FolderRemoved extends EventEnvelope {
  readonly id: 40026;
  /** With `trash` if it can be restored. */
  readonly data: FileLocation & Partial<TrashId>;
}

/** 40027: a folder could not be removed. */
export interface FolderRemoveFailed extends EventEnvelope {
  readonly id: 40027;
  readonly data: FileLocation & Reason;
}

/** What an event says of a lock. */
export interface LockDetails {
  readonly scope: LockScope;
  readonly depth: LockDepth;
}

/** 49003: a file or folder was locked. */
export interface Locked extends EventEnvelope {
  readonly id: 49003;
  /** `seconds`: how long the lock lasts, unless it is refreshed. */
  readonly data: FileLocation & LockDetails & { readonly seconds: number };
}

/** 49004: a file or folder could not be locked. */
export interface LockFailed extends EventEnvelope {
  readonly id: 49004;
  readonly data: FileLocation & LockDetails & Reason;
}

/** 49005: a lock was removed. */
export interface Unlocked extends EventEnvelope {
  readonly id: 49005;
  readonly data: FileLocation & LockDetails;
}

/** 49006: times or properties of a file or folder were changed. */
export interface AttributesChanged extends EventEnvelope {
  readonly id: 49006;
  readonly data: FileLocation;
}

/** 49007: times or properties of a file or folder could not be changed. */
export interface AttributesChangeFailed extends EventEnvelope {
  readonly id: 49007;
  readonly data: FileLocation & Reason;
}

/** 40043: a trigger was run on a member of a folder. */
export interface TriggerRun extends EventEnvelope {
  readonly id: 40043;
  readonly data: {
    readonly trigger: string;
    /** The member's virtual path. */
    readonly path: string;
    /** Why the trigger failed, as the client sees it; `null` if it succeeded. */
    readonly details: string | null;
  };
}
