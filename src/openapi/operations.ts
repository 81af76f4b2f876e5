import type { Failure } from "../http/http-error.ts";
import type { OperationSpec, ResponseSpec } from "./operation-types.ts";
import type { ParameterName } from "./parameters.ts";

const CONDITIONS: readonly ParameterName[] = ["ifMatch", "ifNoneMatch", "ifUnmodifiedSince"];
const TRACE: readonly ParameterName[] = ["requestedWith", "traceparent", "tracestate"];
const FILE_HEADERS = [
  "ETag",
  "Last-Modified",
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Security-Policy",
] as const;

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

function redirect(status: 302 | 303 | 307, description: string, more: Partial<ResponseSpec> = {}): ResponseSpec {
  return { status, description, content: status === 307 ? [] : ["page"], ...more };
}

const toFolderUrl = "It is a folder: the same URL with a `/` at its end.";

/** The operations by name. The names are the base of the `operationId`s. */
export const OPERATIONS = {
  start: {
    summary: "The way to the files",
    tag: "Service",
    responses: [redirect(302, "`/home/`.", { content: ["page"] })],
  },
  startElsewhere: {
    summary: "The way to the files, for other methods",
    tag: "Service",
    responses: [redirect(307, "`/home/`, for the same method and body.")],
  },
  getFile: {
    summary: "The content of a file",
    description: "Whole or in part, as an attachment. HEAD has the header fields alone and ignores `Range`.",
    tag: "Files",
    parameters: ["range", "ifRange", ...CONDITIONS, "ifModifiedSince", "acceptLanguage", ...TRACE],
    responses: [
      { status: 200, description: "The content.", content: ["file"], headers: FILE_HEADERS },
      {
        status: 206,
        description: "A part of the content, or several.",
        content: ["file", "parts"],
        headers: [...FILE_HEADERS, "Content-Range"],
      },
      redirect(302, toFolderUrl),
      { status: 304, description: "The client has this version.", headers: ["ETag", "Last-Modified"] },
    ],
    failures: ["not-found", "wrong-kind", "precondition-failed", "range-not-satisfiable"],
  },
  putFile: {
    summary: "Creates or overwrites a file",
    description:
      "All or nothing: until the last byte has come, readers get the former content. A part of a file, by `Content-Range`, is refused (400).",
    tag: "Files",
    parameters: [...CONDITIONS, "contentEncoding", "metadata", "acceptLanguage", ...TRACE],
    body: "content",
    responses: [
      { status: 201, description: "The file is stored.", headers: ["ETag", "Last-Modified"] },
      { status: 415, description: "Its content is coded.", headers: ["Accept-Encoding"] },
    ],
    failures: [...WRITING, "precondition-failed", "too-large", "unsupported-media-type", "unprocessable"],
  },
  deleteFile: {
    summary: "Removes a file",
    tag: "Files",
    parameters: [...CONDITIONS, "ifModifiedSince", "acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The file is removed." }, redirect(307, toFolderUrl)],
    failures: ["not-found", "wrong-kind", "precondition-failed"],
  },
  changeFile: {
    summary: "Not supported for files",
    tag: "Files",
    responses: [redirect(307, toFolderUrl)],
    failures: ["method-not-allowed"],
  },
  getFolder: {
    summary: "The members of a folder, or all that is in it as an archive",
    description:
      "As JSON, as a page, or by `Accept: application/zip` as a ZIP archive of the folder with everything below it. Without a preference it is a page.",
    tag: "Folders",
    parameters: ["sort", "order", "done", "acceptLanguage", ...TRACE],
    responses: [
      {
        status: 200,
        description: "The members.",
        content: ["listing", "page", "archive"],
        headers: ["Content-Disposition"],
      },
    ],
    failures: ["not-found", "wrong-kind"],
  },
  createFolder: {
    summary: "Creates a folder in one that is there",
    tag: "Folders",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 201, description: "The folder is there." }],
    failures: [...WRITING, "already-exists", "unsupported-media-type"],
  },
  deleteFolder: {
    summary: "Removes a folder with everything in it",
    tag: "Folders",
    parameters: [...CONDITIONS, "ifModifiedSince", "acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The folder is removed." }],
    failures: ["not-found", "wrong-kind", "precondition-failed"],
  },
  changeFolder: {
    summary: "Commands on members of a folder, or the form of a browser",
    description:
      "Commands run in order, each one's failure leaves the following ones running. A form creates a folder, stores files, or deletes, downloads or hands on members. A page is behind a redirect, or has the status of what failed.",
    tag: "Folders",
    parameters: ["contentEncoding", "formMetadata", "acceptLanguage", ...TRACE],
    body: "folder",
    responses: [
      {
        status: 200,
        description: "All has been done, or the archive of the chosen members.",
        content: ["commandResults", "archive"],
        headers: ["Content-Disposition"],
      },
      { status: 303, description: "All has been done: back to the folder.", variants: ["html"] },
      { status: 415, description: "Its content is coded.", headers: ["Accept-Encoding"] },
      {
        status: 422,
        description: "Some of it failed: an entry for each target.",
        content: ["commandErrors"],
      },
    ],
    failures: ["not-found", "too-large", "unsupported-media-type"],
    memberFailures: OF_MEMBERS,
  },
  getAsset: {
    summary: "Style and script of the pages",
    tag: "Service",
    responses: [
      {
        status: 200,
        description: "The asset, for good: its name changes with it.",
        content: ["style", "script"],
      },
    ],
    failures: ["not-found"],
    withPage: { content: ["notices"], failures: ["internal"] },
  },
  getLoginPage: {
    summary: "The login page",
    tag: "Login",
    parameters: ["returnTo", "acceptLanguage"],
    responses: [
      {
        status: 200,
        description: "The page.",
        content: ["anyPage"],
      },
    ],
  },
  logIn: {
    summary: "Begins a session",
    description:
      "Where JSON is preferred, the answer has the session's ID, for `Authorization: session <ID>`. Others get the cookie `SVC_HTTP_SESSION` and a redirect.",
    tag: "Login",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "login",
    responses: [
      { status: 200, description: "The session.", variants: ["json"], content: ["session"] },
      redirect(302, "The cookie of the session, and the way to the files.", {
        variants: ["webdav", "html"],
        content: ["anyPage"],
        headers: ["Set-Cookie"],
      }),
      { status: 415, description: "Its content is coded.", headers: ["Accept-Encoding"] },
    ],
    failures: ["malformed", "unauthorized", "denied", "too-large", "unsupported-media-type", "unavailable", "internal"],
  },
  logOut: {
    summary: "Ends the session",
    tag: "Login",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [
      { status: 204, description: "The session has ended.", variants: ["json", "webdav"], headers: ["Set-Cookie"] },
      redirect(302, "The login page.", { variants: ["html"], headers: ["Set-Cookie"] }),
      {
        status: 401,
        description: "The session had ended: so does its cookie.",
        variants: ["json", "webdav"],
        content: ["errors"],
        headers: ["Set-Cookie"],
      },
    ],
    failures: ["denied", "unavailable"],
    takesSession: true,
  },
  getPasswordPage: {
    summary: "The form to change the password",
    tag: "Login",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The form.", content: ["anyPage"] }],
  },
  updatePassword: {
    summary: "Changes the account's own password",
    description: "The account's other sessions end.",
    tag: "Login",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "password",
    responses: [
      {
        status: 200,
        description: "The password was changed.",
        variants: ["json", "webdav"],
        content: ["passwordChanged"],
      },
      redirect(303, "The password was changed: back to the files.", { variants: ["html"] }),
      { status: 415, description: "Its content is coded.", headers: ["Accept-Encoding"] },
    ],
    failures: ["malformed", "too-large", "unsupported-media-type", "unprocessable"],
  },
  getApiPage: {
    summary: "The description as an interactive page",
    tag: "Service",
    parameters: ["acceptLanguage"],
    responses: [{ status: 200, description: "The page.", content: ["anyPage"] }],
    failures: ["internal"],
  },
  getDescription: {
    summary: "This description",
    tag: "Service",
    responses: [{ status: 200, description: "The description, in OpenAPI 3.0.3.", content: ["yaml", "document"] }],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;

/** The name of an operation. */
export type OperationName = keyof typeof OPERATIONS;
