import type { LinkPermission } from "../links.ts";
import type { EventEnvelope, FileLocation, LeftOut } from "./envelope.ts";

/** 49101: a link was made. */
export interface LinkCreated extends EventEnvelope {
  readonly id: 49101;
  readonly data: FileLocation & {
    readonly permissions: readonly LinkPermission[];
    /** POSIX seconds. */
    readonly expires: number;
    readonly has_password: boolean;
    /** `null` for no limit. */
    readonly max_uses: number | null;
  };
}

/** 49102: a link was withdrawn. */
export interface LinkWithdrawn extends EventEnvelope {
  readonly id: 49102;
  /** The virtual path that the link leads to. */
  readonly data: { readonly path: string };
}

/** Why a link was refused. `account`: it no longer exists, may not be used, or may not have links any more. */
export const LINK_REFUSALS = ["expired", "withdrawn", "account", "used-up", "password", "throttled", "denied"] as const;

/**
 * One of {@link LINK_REFUSALS}.
 *
 * @useDeclaredType
 */
export type LinkRefusal = (typeof LINK_REFUSALS)[number];

/** 49103: a request by a link was refused. */
export interface LinkRefused extends EventEnvelope {
  readonly id: 49103;
  readonly data: {
    readonly reason: LinkRefusal;
  } & LeftOut;
}
