import type { Failure } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";

/** A key that the metadata of uploads may have. */
export interface OpenApiMetadataKey {
  readonly name: string;
  readonly isRequired: boolean;
}

/** A field of a folder's form: the one action, a text, or any number of texts or files. */
export interface OpenApiFormField {
  readonly name: string;
  readonly holds: "action" | "text" | "texts" | "files";
}

/** What of a service's configuration clients meet. */
export interface OpenApiOptions {
  readonly title: string;
  /** Of this package. */
  readonly version: string;
  readonly basePath: string;
  /** Those that are mounted. */
  readonly variants: readonly Variant[];
  /** The names of all triggers, whichever accounts have them. */
  readonly triggers: readonly string[];
  /** How many commands one request may have. */
  readonly maxCommands: number;
  /** The actions of a form that are built in. */
  readonly formActions: readonly string[];
  /** The fields that a form is read by. */
  readonly formFields: readonly OpenApiFormField[];
  readonly metadata:
    | { readonly header: string; readonly isRequired: boolean; readonly keys?: readonly OpenApiMetadataKey[] }
    | undefined;
  /** Whether the session is among the challenges of a 401 (CONTRACT 6.2). */
  readonly announcesSession: boolean;
  /** The header fields that every page has, beside its language. */
  readonly pageFields: readonly string[];
  /** The status of a failure in a variant (CONTRACT 1). */
  readonly toStatus: (failure: Failure, variant: Variant) => number;
}
