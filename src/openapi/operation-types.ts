import type { Failure } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";
import type { HeaderName } from "./headers.ts";
import type { ContentName } from "./media-types.ts";
import type { ParameterName } from "./parameters.ts";
import type { BodyName } from "./request-bodies.ts";
import type { TagName } from "./tags.ts";

/** An answer that is no failure. */
export interface ResponseNote {
  readonly status: number;
  readonly description: string;
  /** The variants that it is of. Default: all. */
  readonly variants?: readonly Variant[];
  /** The representations that it may have. Default: none. */
  readonly content?: readonly ContentName[];
  /** Header fields beside those that every answer of its kind has. */
  readonly headers?: readonly HeaderName[];
}

/** What clients have to know of an operation. Statuses of failures are those of the variants' tables (CONTRACT 1). */
export interface OperationAbout {
  readonly summary: string;
  readonly description?: string;
  readonly tag: TagName;
  readonly parameters?: readonly ParameterName[];
  readonly body?: BodyName;
  readonly responses: readonly ResponseNote[];
  /** How it can fail, beside the ways in which every operation can. */
  readonly failures?: readonly Failure[];
  /** How its members can fail one by one: pages have a status of that, other variants tell of it in a body of their own (CONTRACT 4.6). */
  readonly memberFailures?: readonly Failure[];
  /** What comes with the interactive page, where that is mounted: representations of what is answered 200, and failures. */
  readonly withPage?: { readonly content: readonly ContentName[]; readonly failures: readonly Failure[] };
  /** Whether a session is ended or used, though anybody may ask. Default: false. */
  readonly takesSession?: true;
}
