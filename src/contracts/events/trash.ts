import type { EventEnvelope, FileLocation } from "./envelope.ts";

/** What an event says of an entry of the trash. */
export interface TrashId {
  /** The ID of the entry. */
  readonly trash: string;
}

/** 49111: something was restored from the trash. */
export interface TrashRestored extends EventEnvelope {
  readonly id: 49111;
  /** Where it is now. */
  readonly data: FileLocation & TrashId;
}

/** 49112: something was removed from the trash for good. */
export interface TrashPurged extends EventEnvelope {
  readonly id: 49112;
  /**
   * Where it was. Without an account, `path` is the path in the storage. `reason`: an account has removed it, or it was
   * too old, or there was no room for it.
   */
  readonly data: FileLocation & TrashId & { readonly reason: "account" | "age" | "space" };
}
