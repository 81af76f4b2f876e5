import { createError } from "../errors.ts";
import { mediaType } from "../negotiate.ts";
import type { InteropVersion, UploadProtocol } from "./request-types.ts";
import { readBoolean, readInteger } from "./structured-fields.ts";
import { TUS_MEDIA_TYPE, TUS_VERSION } from "./vocabulary.ts";

/** Uploads that announce less are not made resumable (RESUMABLE 4.2). */
const MIN_RESUMABLE_BYTES = 1024 * 1024;
/**
 * False when the RFC is published. Until then only clients that name a version get `104 (Upload Resumption Supported)`.
 */
const IS_DRAFT = true;
const VERSIONS: readonly InteropVersion[] = [5, 6, 7, 8];
/** Some platforms add `Upload-Complete: ?1` to every request. What has one of these types is a command or a form. */
const COMMAND_TYPES: readonly (string | undefined)[] = [
  "application/json",
  "multipart/form-data",
  "application/x-www-form-urlencoded",
];
const OVERRIDING_METHODS = ["PATCH", "DELETE", "HEAD"] as const;
const CONDITIONS = ["If-Match", "If-None-Match", "If-Unmodified-Since", "If"] as const;

/**
 * The protocol of a request to the URL of a file or a folder that creates an upload; `undefined` for any other request
 * (RESUMABLE 2.1). Nothing is checked yet.
 */
export function findCreationProtocol(
  { method, headers }: Pick<Request, "method" | "headers">,
  isFolder: boolean,
): UploadProtocol | undefined {
  if (method === "POST" && headers.has("tus-resumable")) return "tus";
  if (method !== "POST" && (method !== "PUT" || isFolder)) return undefined;
  const isComplete = readBoolean(headers, "upload-complete");
  if (isComplete === undefined || !speaksDraft(headers)) return undefined;
  const isCommand = isFolder && isComplete && COMMAND_TYPES.includes(mediaType(headers.get("content-type")));
  return isCommand ? undefined : "draft";
}

/** Whether a request may be one of the draft: other versions of it are no uploads in several requests. */
function speaksDraft(headers: Headers): boolean {
  const version = readInteger(headers, "upload-draft-interop-version");
  return version === undefined || isServed(version);
}

function isServed(version: number): version is InteropVersion {
  return (VERSIONS as readonly number[]).includes(version);
}

/**
 * The protocol of a request to the URL of an upload.
 * @throws HttpError `precondition-failed` for another version of tus, and for content of tus without a version.
 */
export function requireUploadProtocol({ method, headers }: Pick<Request, "method" | "headers">): UploadProtocol {
  const isTus = headers.has("tus-resumable");
  if (isTus || (method === "PATCH" && isTusContent(headers))) requireTusVersion(headers);
  return isTus ? "tus" : "draft";
}

/** @throws HttpError `precondition-failed` unless the request names the version of tus that is served. */
export function requireTusVersion(headers: Headers): void {
  if (headers.get("tus-resumable") === TUS_VERSION) return;
  const values = { version: TUS_VERSION };
  throw createError("upload-version-unsupported", { values, headers: { "Tus-Version": TUS_VERSION } });
}

/** Whether the content of a request is a part of a file in tus. */
export function isTusContent(headers: Headers): boolean {
  return mediaType(headers.get("content-type")) === TUS_MEDIA_TYPE;
}

/**
 * The method that a request to the URL of an upload stands for: clients of tus that cannot send `PATCH` send `POST` and
 * `X-HTTP-Method-Override`. On other URLs, and in other requests, this field has no meaning.
 * @throws HttpError `malformed` for a method that cannot be overridden with.
 */
export function toUploadMethod({ method, headers }: Pick<Request, "method" | "headers">): string {
  const value = headers.get("x-http-method-override");
  if (method !== "POST" || value === null || !headers.has("tus-resumable")) return method;
  const overriding = OVERRIDING_METHODS.find((one) => one === value);
  if (overriding === undefined) throw createError("upload-method-override-invalid");
  return overriding;
}

/**
 * Refuses conditions on the URL of an upload: they would be about the upload, and not about the file.
 * @throws HttpError `malformed`.
 */
export function requireNoConditions(headers: Headers): void {
  const header = CONDITIONS.find((name) => headers.has(name));
  if (header !== undefined) throw createError("upload-condition-unexpected", { values: { header } });
}

/** The version of the draft that a client speaks; `undefined` if it names none that is served. */
export function readInteropVersion(headers: Headers): InteropVersion | undefined {
  const version = readInteger(headers, "upload-draft-interop-version");
  return version !== undefined && isServed(version) ? version : undefined;
}

/**
 * Whether the client gets a `104`: not through a proxy, as far as that says that it is one. nginx takes `104` for the
 * final response.
 */
export function canGetInterim(headers: Headers): boolean {
  const isProxied = headers.has("forwarded") || headers.has("via");
  return !isProxied && !headers.has("x-forwarded-for") && !headers.has("x-real-ip");
}

/**
 * Whether a request with a complete file is worth an upload that can be resumed: its client understands a `104`, and
 * the file is not small. Otherwise it is a plain request (RESUMABLE 4.2).
 */
export function asksForResumption(headers: Headers): boolean {
  if (readBoolean(headers, "upload-complete") !== true || !speaksDraft(headers)) return false;
  if (!canGetInterim(headers)) return false;
  if (IS_DRAFT && readInteropVersion(headers) === undefined) return false;
  const length = headers.get("content-length") ?? headers.get("upload-length");
  return length === null || Number(length) >= MIN_RESUMABLE_BYTES;
}

/**
 * Refuses a plain request whose content is only a part of a file: stored as it is, it would be taken for the file.
 * @throws HttpError `method-not-implemented`.
 */
export function requireCompleteContent(headers: Headers): void {
  if (readBoolean(headers, "upload-complete") === false) throw createError("upload-unsupported");
}
