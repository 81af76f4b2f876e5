import type { ExpectedDigest } from "../digests/digest-headers.ts";

/**
 * The protocol of an upload in several requests: tus 1.0.0, or the IETF's draft-ietf-httpbis-resumable-upload, which is
 * called the draft.
 */
export type UploadProtocol = "tus" | "draft";

/** What a request to create an upload asks for, by its header fields. */
export type UploadCreation = TusCreation | DraftCreation;

/** What a `PATCH` of an upload asks for, by its header fields. */
export type UploadAppend = TusAppend | DraftAppend;

/** What a request with content says, in both protocols. */
interface Common {
  /** The number of bytes of the complete file; `undefined` if the request does not say it. */
  readonly length: number | undefined;
  /** The number of bytes in this request; `undefined` if it is not announced. */
  readonly announced: number | undefined;
  /** The digests that the content of this request must have. */
  readonly digests: readonly ExpectedDigest[];
}

/** What a request for a new upload says, in both protocols. */
interface CommonCreation extends Common {
  /**
   * The name of the file, which may be the name of a member of a folder. `undefined` if the request is for the URL of a
   * file, and for a partial upload.
   */
  readonly name: string | undefined;
}

/** A creation by tus. */
export interface TusCreation extends CommonCreation {
  readonly protocol: "tus";
  /** Whether the content is the first bytes of the file. There is no other content. */
  readonly hasContent: boolean;
  /** `Upload-Metadata` as it was received, for responses to `HEAD`. */
  readonly metadata: string | undefined;
  /** `Upload-Concat`, if the request has it. */
  readonly concat: UploadConcat | undefined;
}

/** What `Upload-Concat` asks for. */
export type UploadConcat =
  | { readonly kind: "partial" }
  /** `value` is the field as it was received, `paths` are the paths of its URLs. */
  | { readonly kind: "final"; readonly value: string; readonly paths: readonly string[] };

/** The versions of the draft that are served alike. */
export type InteropVersion = 5 | 6 | 7 | 8;

/** What every request of the draft may say. */
interface DraftVersion {
  readonly protocol: "draft";
  /** The version that the client speaks; `undefined` if the request names none that is served. */
  readonly interop: InteropVersion | undefined;
}

/** What requests of the draft say about their content. */
interface DraftContent extends DraftVersion {
  /** Whether the file is complete with the content of this request. */
  readonly isComplete: boolean;
  /** The digests that the file must have. None if this request does not have all of its content. */
  readonly fileDigests: readonly ExpectedDigest[];
}

/** A creation by the draft. Its content are the first bytes of the file. */
export interface DraftCreation extends CommonCreation, DraftContent {}

/** An append by tus. */
export interface TusAppend extends Common {
  readonly protocol: "tus";
  readonly offset: number;
}

/** An append by the draft. */
export interface DraftAppend extends Common, DraftContent {
  readonly offset: number;
}

/** A request to an upload that sends nothing: `HEAD` or `DELETE`. */
export type UploadAccess = { readonly protocol: "tus" } | DraftVersion;
