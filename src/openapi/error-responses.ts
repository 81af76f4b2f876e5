import type { Failure } from "../http/http-error.ts";

/** The description of each failure for clients. */
export const FAILURE_TEXTS: Readonly<Record<Failure, string>> = {
  malformed: "The URL, a header or the body is malformed.",
  unauthorized: "The credentials or the session are missing, invalid or expired.",
  denied:
    "The account's permissions, a protected folder or a reserved name do not allow this, or the request comes from another site.",
  "not-found": "The file or folder does not exist.",
  "method-not-allowed": "The method is not allowed on this resource.",
  "method-not-implemented": "The method is not implemented.",
  "already-exists": "A file or folder with that name already exists.",
  "parent-missing": "The parent folder does not exist.",
  "wrong-kind": "A file exists where a folder is needed, or a folder where a file is needed.",
  conflict: "The first request with this `Idempotency-Key` still runs, or its response was not kept.",
  locked: "A WebDAV client has a lock on this, or another request uses the upload.",
  "offset-mismatch": "The upload continues at another offset, which `Upload-Offset` has.",
  gone: "The upload has expired, or the link has ended.",
  "checksum-mismatch": "The content does not have the declared checksum.",
  "precondition-failed": "A precondition of the request failed.",
  "range-not-satisfiable": "The range is beyond the end of the file.",
  "too-large": "The body is larger than allowed.",
  "unsupported-media-type":
    "The `Content-Type` or `Content-Encoding` is not supported, or the request has a body where none is allowed.",
  unprocessable: "The request is well-formed but cannot be processed.",
  "no-space": "The storage is full.",
  "bad-gateway": "The destination is on another server, or another server has sent an invalid response.",
  unavailable:
    "A part of the service, such as the storage, is not available, or there are too many transfers: retry later.",
  internal: "An internal error occurred.",
};
