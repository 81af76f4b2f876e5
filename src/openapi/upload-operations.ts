import type { Failure } from "../http/http-error.ts";
import type { HeaderName } from "./headers.ts";
import { TRACE, UNSUPPORTED_CONTENT } from "./operation-parts.ts";
import type { OperationSpec, ResponseSpec } from "./operation-types.ts";
import type { ParameterName } from "./parameters.ts";

const FILE_HEADERS: readonly HeaderName[] = ["ETag", "Last-Modified"];
/** How the completion of an upload can fail, as a PUT. */
const COMPLETING: readonly Failure[] = [
  "wrong-kind",
  "parent-missing",
  "precondition-failed",
  "too-large",
  "unprocessable",
  "locked",
  "no-space",
];
const ON_UPLOAD: readonly Failure[] = ["not-found", "gone", ...COMPLETING];
const CONTENT: readonly ParameterName[] = ["uploadChecksum", "contentDigest", "reprDigest", "contentEncoding"];
/** Clients of tus send `Upload-Concat` with every request of a partial upload. */
const ACCESS_PARAMETERS: readonly ParameterName[] = ["tusResumable", "draftVersion", "uploadConcat"];
const APPEND_PARAMETERS: readonly ParameterName[] = [
  ...ACCESS_PARAMETERS,
  "uploadOffset",
  "uploadLength",
  "uploadComplete",
  ...CONTENT,
];
const APPENDED: readonly ResponseSpec[] = [
  {
    status: 201,
    description: "The file was created or overwritten (draft).",
    headers: [...FILE_HEADERS, "Upload-Offset", "Upload-Complete"],
  },
  {
    status: 204,
    description: "The content was added. With tus, an `ETag` says that the file was created or overwritten with it.",
    headers: [...FILE_HEADERS, "Upload-Offset", "Upload-Expires", "Upload-Complete"],
  },
  UNSUPPORTED_CONTENT,
];
const APPEND_FAILURES: readonly Failure[] = [
  ...ON_UPLOAD,
  "offset-mismatch",
  "checksum-mismatch",
  "unsupported-media-type",
];
const SHOWN_HEADERS: readonly HeaderName[] = [
  ...FILE_HEADERS,
  "Content-Location",
  "Upload-Offset",
  "Upload-Length",
  "Upload-Complete",
  "Upload-Limit",
];
const SHOWN: readonly ResponseSpec[] = [
  {
    status: 200,
    description: "What is known of the upload (tus).",
    headers: [...SHOWN_HEADERS, "Upload-Defer-Length", "Upload-Metadata", "Upload-Concat", "Upload-Expires"],
  },
  { status: 204, description: "What is known of the upload (draft).", headers: SHOWN_HEADERS },
];

/** The operations at the URLs of uploads in several requests. */
export const UPLOAD_OPERATIONS = {
  showUpload: {
    summary: "Find out how much of an upload is stored",
    description: "Interrupts a request that still adds to the upload.",
    tag: "Uploads",
    parameters: [...ACCESS_PARAMETERS, ...TRACE],
    responses: SHOWN,
    failures: ON_UPLOAD,
  },
  appendUpload: {
    summary: "Add content to an upload",
    description:
      "With its last byte the upload becomes the file. What arrives before a failure is kept, unless there is a checksum.",
    tag: "Uploads",
    parameters: [...APPEND_PARAMETERS, "acceptLanguage", ...TRACE],
    body: "part",
    responses: APPENDED,
    failures: APPEND_FAILURES,
  },
  endUpload: {
    summary: "End an upload",
    description: "Removes what is stored of it. A file that it has become stays.",
    tag: "Uploads",
    parameters: [...ACCESS_PARAMETERS, "acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The upload was ended." }],
    failures: ["not-found", "gone", "locked", "precondition-failed"],
  },
  overrideUpload: {
    summary: "PATCH, DELETE or HEAD for clients that can only send POST",
    description: "The request is processed as one of the method that `X-HTTP-Method-Override` names (tus).",
    tag: "Uploads",
    parameters: ["methodOverride", ...APPEND_PARAMETERS, "acceptLanguage", ...TRACE],
    body: "part",
    responses: [...SHOWN, ...APPENDED],
    failures: [...APPEND_FAILURES, "method-not-allowed"],
  },
  listUploads: {
    summary: "List the unfinished uploads of the account",
    tag: "Uploads",
    parameters: ["tusResumable", "acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The uploads.", content: ["uploads"] }],
    failures: ["precondition-failed"],
  },
  createUpload: {
    summary: "Create an upload in several requests",
    tag: "Uploads",
    parameters: ["formMetadata", "acceptLanguage", ...TRACE],
    responses: [],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;

/** What creations of uploads add to an operation of a file or folder. */
export interface UploadAdditions extends Pick<OperationSpec, "body"> {
  /** The only method that has them. Default: all of the operation. */
  readonly method?: string;
  readonly description: string;
  readonly parameters: readonly ParameterName[];
  readonly responses: readonly ResponseSpec[];
  readonly failures: readonly Failure[];
}

const CREATED: ResponseSpec = {
  status: 201,
  description: "The upload was created at `Location`; or the file was stored, if `ETag` is there.",
  headers: ["Location", ...FILE_HEADERS, "Upload-Offset", "Upload-Expires", "Upload-Complete", "Upload-Limit"],
};
const DRAFT_PARAMETERS: readonly ParameterName[] = [
  "draftVersion",
  "uploadComplete",
  "uploadLength",
  "contentDigest",
  "reprDigest",
];
const CREATION: UploadAdditions = {
  description:
    "With `Tus-Resumable` (tus 1.0.0) or `Upload-Complete` (the IETF draft) the request creates an upload, whose first bytes are the content.",
  parameters: [
    "tusResumable",
    "uploadDeferLength",
    "uploadMetadata",
    "uploadConcat",
    "uploadChecksum",
    ...DRAFT_PARAMETERS,
    "ifMatch",
    "ifNoneMatch",
    "ifUnmodifiedSince",
    "contentEncoding",
    "formMetadata",
  ],
  responses: [CREATED, UNSUPPORTED_CONTENT],
  failures: [
    ...COMPLETING,
    "not-found",
    "offset-mismatch",
    "checksum-mismatch",
    "unsupported-media-type",
    "method-not-implemented",
  ],
};

/** The additions by the name of the operation. */
export const UPLOAD_ADDITIONS: Readonly<Record<string, UploadAdditions>> = {
  putFile: {
    description:
      "With `Upload-Complete: ?0` (the IETF draft) the request creates an upload, whose first bytes are the content; with `?1` an interim response 104 may have the URL of the upload.",
    parameters: DRAFT_PARAMETERS,
    responses: [CREATED],
    failures: ["offset-mismatch", "locked", "method-not-implemented"],
  },
  changeFile: {
    ...CREATION,
    method: "POST",
    parameters: [...CREATION.parameters, "acceptLanguage", ...TRACE],
    body: "content",
  },
  changeFolder: { ...CREATION, parameters: [...CREATION.parameters, "contentDisposition"], body: "folderOrPart" },
  createUpload: {
    ...CREATION,
    failures: [...CREATION.failures, "method-not-allowed"],
    parameters: [...CREATION.parameters, "contentDisposition"],
    body: "content",
  },
};

/** The header fields of responses that only uploads have, by status. */
export const UPLOAD_HEADERS_OF_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  409: ["Upload-Offset"],
  412: ["Tus-Version"],
  413: ["Tus-Max-Size", "Upload-Limit"],
  423: ["Retry-After"],
};

/** The header fields by which a client finds out about uploads, in responses to OPTIONS. */
export const UPLOAD_FEATURE_HEADERS: readonly HeaderName[] = [
  "Tus-Resumable",
  "Tus-Version",
  "Tus-Extension",
  "Tus-Max-Size",
  "Tus-Checksum-Algorithm",
  "Accept-Patch",
  "Upload-Limit",
];
