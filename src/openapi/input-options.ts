import type { Failure } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";

/** A key that the metadata of an upload can have. */
export interface OpenApiMetadataKey {
  readonly name: string;
  readonly isRequired: boolean;
}

/** A field of a folder's form. It has one action, one text, or any number of texts or files. */
export interface OpenApiFormField {
  readonly name: string;
  readonly holds: "action" | "text" | "texts" | "files";
  /** Whether a form with this field needs no action. */
  readonly needsNoAction?: boolean;
}

/** The part of a service's configuration that clients notice. */
export interface OpenApiOptions {
  readonly title: string;
  /** The version of this package. */
  readonly version: string;
  readonly basePath: string;
  /** The mounted variants. */
  readonly variants: readonly Variant[];
  /** The names of all triggers, including those that only some accounts may use. */
  readonly triggers: readonly string[];
  /** How many commands one request can have. */
  readonly maxCommands: number;
  /** The built-in actions of a form. */
  readonly formActions: readonly string[];
  /** The fields that the form parser reads. */
  readonly formFields: readonly OpenApiFormField[];
  readonly metadata:
    | { readonly header: string; readonly isRequired: boolean; readonly keys?: readonly OpenApiMetadataKey[] }
    | undefined;
  /** Whether the session is among the challenges of a 401 (CONTRACT 6.2). */
  readonly announcesSession: boolean;
  /** The name of the session cookie. */
  readonly cookieName: string;
  /** The challenge of the host's own way to identify users, such as `Bearer`. */
  readonly identityChallenge: string | undefined;
  /** The header fields that every page has, in addition to `Content-Language`. */
  readonly pageFields: readonly string[];
  /** Whether scripts of other origins may read responses (the option `cors`). */
  readonly hasCors: boolean;
  /** Whether the service has the methods of WebDAV. */
  readonly hasWebdav: boolean;
  /** Whether the service has uploads in several requests. */
  readonly hasUploads: boolean;
  /** Whether downloads may be redirected to where the files are stored. */
  readonly redirectsDownloads: boolean;
  /** Whether files and folders can be asked for without a login. */
  readonly hasAnonymous: boolean;
  /** Whether accounts can have API keys. */
  readonly hasKeys: boolean;
  /** Whether the service has links. */
  readonly hasLinks: boolean;
  /** Whether the service has a trash. */
  readonly hasTrash: boolean;
  /** Whether responses have digests that clients ask for (the option `digests`). */
  readonly hasDigests: boolean;
  /** Whether requests with an `Idempotency-Key` run once (the option `idempotency`). */
  readonly hasIdempotency: boolean;
  /** Returns the status of a failure in a variant (CONTRACT 1). */
  readonly toStatus: (failure: Failure, variant: Variant) => number;
}
