import type { Failure } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";
import type { HeaderName } from "./headers.ts";
import type { ContentName } from "./media-types.ts";
import type { ParameterName } from "./parameters.ts";
import type { BodyName } from "./request-bodies.ts";
import type { TagName } from "./tags.ts";

/** A response that is not derived from a failure. */
export interface ResponseSpec {
  readonly status: number;
  readonly description: string;
  /** The variants that have this response. Default: all. */
  readonly variants?: readonly Variant[];
  /** The representations that it can have. Default: none. */
  readonly content?: readonly ContentName[];
  /** Header fields in addition to those that all responses of this status have. */
  readonly headers?: readonly HeaderName[];
}

/** What the document says about an operation. The variants' tables give the statuses of failures (CONTRACT 1). */
export interface OperationSpec {
  readonly summary: string;
  readonly description?: string;
  readonly tag: TagName;
  readonly parameters?: readonly ParameterName[];
  readonly body?: BodyName;
  readonly responses: readonly ResponseSpec[];
  /** How it can fail, in addition to the failures that every operation can have. */
  readonly failures?: readonly Failure[];
  /**
   * How single members can fail. For pages such a failure decides the status; other variants report it in the body
   * (CONTRACT 4.6).
   */
  readonly memberFailures?: readonly Failure[];
  /** What the interactive page adds if it is mounted: representations of the response 200, and failures. */
  readonly withPage?: { readonly content: readonly ContentName[]; readonly failures: readonly Failure[] };
  /** Failures of other operations with the same access that this one cannot have: its path has no parameters. */
  readonly lacks?: readonly Failure[];
  /** Whether the operation uses a session although it needs no login. Default: false. */
  readonly takesSession?: true;
}
