import type { KeyPermission } from "../api-keys.ts";
import type { EventEnvelope } from "./envelope.ts";

/** 49121: an account has made an API key. */
export interface KeyCreated extends EventEnvelope {
  readonly id: 49121;
  readonly data: {
    /** `null` for all that the account has. */
    readonly permissions: readonly KeyPermission[] | null;
    /** The virtual path that the key is for. */
    readonly path: string;
    /** POSIX seconds; `null` if it does not expire. */
    readonly expires: number | null;
  };
}

/** 49122: an account has revoked an API key. */
export interface KeyRevoked extends EventEnvelope {
  readonly id: 49122;
  /** The virtual path that the key was for. */
  readonly data: { readonly path: string };
}
