import type { Failure } from "../http/http-error.ts";

/** The description of each failure for clients. */
export const FAILURE_TEXTS: Readonly<Record<Failure, string>> = {
  malformed: "The URL, a header field or the body is malformed.",
  unauthorized: "No login, or none that is valid (any more).",
  denied:
    "The account's permissions, a protected folder or a reserved name forbid it, or the request comes from another site.",
  "not-found": "There is nothing.",
  "method-not-allowed": "The method is not allowed on this resource.",
  "method-not-implemented": "The method is not implemented.",
  "already-exists": "Something of that name exists.",
  "parent-missing": "The parent folder is missing.",
  "wrong-kind": "A file is where a folder is needed, or the reverse.",
  "precondition-failed": "A condition of the request does not hold.",
  "range-not-satisfiable": "The file is shorter.",
  "too-large": "The body is larger than allowed.",
  "unsupported-media-type":
    "The body's type, or its coding, is none that is taken here; or there is a body where none is defined.",
  unprocessable: "It is well-formed and cannot be done.",
  "no-space": "The storage is full.",
  unavailable:
    "The storage or another part is not available, or as many transfers are under way as there may be; a retry may help.",
  internal: "Something failed that the client can do nothing about.",
};
