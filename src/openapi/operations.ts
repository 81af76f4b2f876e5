import type { Failure } from "../http/http-error.ts";
import { KEY_OPERATIONS } from "./key-operations.ts";
import { LINK_OPERATIONS } from "./link-operations.ts";
import { LOGIN_OPERATIONS } from "./login-operations.ts";
import { DOWNLOAD, redirect, TRACE } from "./operation-parts.ts";
import type { OperationSpec } from "./operation-types.ts";
import type { ParameterName } from "./parameters.ts";
import { TRASH_OPERATIONS } from "./trash-operations.ts";
import { UPLOAD_OPERATIONS } from "./upload-operations.ts";
import { VERSION_OPERATIONS } from "./version-operations.ts";

const CONDITIONS: readonly ParameterName[] = ["ifMatch", "ifNoneMatch", "ifUnmodifiedSince"];
/** Failures of every operation that writes to the storage. */
const WRITING: readonly Failure[] = ["not-found", "wrong-kind", "parent-missing", "no-space"];
/** Failures of single members that a page can report. */
const OF_MEMBERS: readonly Failure[] = [
  "malformed",
  "denied",
  "not-found",
  "already-exists",
  "parent-missing",
  "wrong-kind",
  "precondition-failed",
  "too-large",
  "unprocessable",
  "no-space",
  "unavailable",
  "internal",
];

const toFolderUrl = "The path is a folder: redirect to the same URL with a trailing `/`.";

/** The operations by name. The names are the base of the `operationId`s. */
export const OPERATION_SPECS = {
  start: {
    summary: "Redirect to the home folder",
    tag: "Service",
    responses: [redirect(302, "Redirect to `/home/`.", { content: ["page"] })],
  },
  startElsewhere: {
    summary: "Redirect other methods to the home folder",
    tag: "Service",
    responses: [redirect(307, "Redirect to `/home/` with the same method and body.")],
  },
  getFile: {
    summary: "Download a file",
    description:
      "Sends the file, or ranges of it, as an attachment, or for display with `inline`. HEAD ignores `Range`.",
    tag: "Files",
    parameters: ["inline", "range", "ifRange", ...CONDITIONS, "ifModifiedSince", "acceptLanguage", ...TRACE],
    responses: [...DOWNLOAD, redirect(302, toFolderUrl)],
    failures: ["not-found", "wrong-kind", "precondition-failed", "range-not-satisfiable"],
  },
  putFile: {
    summary: "Create or overwrite a file",
    description:
      "The write is atomic: until it completes, readers get the previous content. `Content-Range` is rejected (400).",
    tag: "Files",
    parameters: [
      ...CONDITIONS,
      "contentEncoding",
      "contentDigest",
      "reprDigest",
      "metadata",
      "acceptLanguage",
      ...TRACE,
    ],
    body: "content",
    responses: [
      { status: 201, description: "The file was stored.", headers: ["ETag", "Last-Modified"] },
      { status: 415, description: "The request has a `Content-Encoding`.", headers: ["Accept-Encoding"] },
    ],
    failures: [...WRITING, "precondition-failed", "too-large", "unsupported-media-type", "unprocessable"],
  },
  deleteFile: {
    summary: "Remove a file",
    tag: "Files",
    parameters: [...CONDITIONS, "ifModifiedSince", "acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The file was removed." }, redirect(307, toFolderUrl)],
    failures: ["not-found", "wrong-kind", "precondition-failed", "no-space"],
  },
  changeFile: {
    summary: "Methods that files do not support",
    tag: "Files",
    responses: [redirect(307, toFolderUrl)],
    failures: ["method-not-allowed"],
  },
  getFolder: {
    summary: "List a folder, or download it as an archive",
    description: "A page, JSON if that is preferred, or a ZIP archive with `Accept: application/zip`.",
    tag: "Folders",
    parameters: [
      "q",
      "limit",
      "cursor",
      "prefer",
      "listingIfNoneMatch",
      "member",
      "sort",
      "order",
      "done",
      "sent",
      "acceptLanguage",
      ...TRACE,
    ],
    responses: [
      {
        status: 200,
        description: "The members of the folder.",
        content: ["listing", "search", "page", "archive"],
        headers: ["Content-Disposition", "ETag", "Link", "Preference-Applied"],
      },
      {
        status: 304,
        description: "The client already has this listing.",
        variants: ["json", "webdav"],
        headers: ["ETag"],
      },
      {
        status: 409,
        description: "The cursor does not belong to this listing. Begin again with the first page.",
        variants: ["json", "webdav"],
        content: ["errors"],
      },
    ],
    failures: ["not-found", "wrong-kind"],
  },
  createFolder: {
    summary: "Create a folder in an existing folder",
    tag: "Folders",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 201, description: "The folder was created." }],
    failures: [...WRITING, "already-exists", "unsupported-media-type"],
  },
  deleteFolder: {
    summary: "Remove a folder and everything in it",
    tag: "Folders",
    parameters: [...CONDITIONS, "ifModifiedSince", "acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The folder was removed." }],
    failures: ["not-found", "wrong-kind", "precondition-failed", "no-space"],
  },
  changeFolder: {
    summary: "Run commands on members of a folder, or submit a form",
    description:
      "Commands run in order; if one fails, the following ones still run. A form creates a folder, uploads files, or deletes, downloads or runs a trigger on members.",
    tag: "Folders",
    parameters: ["dryRun", "contentEncoding", "formMetadata", "sort", "order", "acceptLanguage", ...TRACE],
    body: "folder",
    responses: [
      {
        status: 200,
        description: "All commands succeeded, or the archive of the selected members.",
        content: ["commandResults", "archive"],
        headers: ["Content-Disposition", "Preference-Applied"],
      },
      { status: 303, description: "The form succeeded: redirect to the folder.", variants: ["html"] },
      { status: 415, description: "The request has a `Content-Encoding`.", headers: ["Accept-Encoding"] },
      {
        status: 422,
        description: "Some commands failed. The body has an entry for each target.",
        content: ["commandErrors"],
        headers: ["Preference-Applied"],
      },
    ],
    failures: ["not-found", "too-large", "unsupported-media-type"],
    memberFailures: OF_MEMBERS,
  },
  getAsset: {
    summary: "Download a style sheet or script of the pages",
    tag: "Service",
    responses: [
      {
        status: 200,
        description: "The asset. It may be cached forever: its name changes with its content.",
        content: ["style", "script"],
        headers: ["Content-Encoding"],
      },
    ],
    failures: ["not-found"],
    withPage: { content: ["notices"], failures: ["internal"] },
  },
  getHealth: {
    summary: "Ask whether the service runs",
    tag: "Service",
    responses: [{ status: 204, description: "The service runs. Neither its storage nor a store was asked." }],
  },
  ...LOGIN_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  ...KEY_OPERATIONS,
  ...LINK_OPERATIONS,
  ...TRASH_OPERATIONS,
  ...VERSION_OPERATIONS,
  getApiPage: {
    summary: "Show this document as an interactive page",
    tag: "Service",
    parameters: ["acceptLanguage"],
    responses: [{ status: 200, description: "The page.", content: ["anyPage"] }],
    failures: ["internal"],
  },
  getOpenApi: {
    summary: "Download this document",
    tag: "Service",
    responses: [{ status: 200, description: "The OpenAPI 3.0.3 document.", content: ["yaml", "document"] }],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;

/** The name of an operation. */
export type OperationName = keyof typeof OPERATION_SPECS;
