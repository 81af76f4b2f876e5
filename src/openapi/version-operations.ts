import { commandResponses, DOWNLOAD, TRACE } from "./operation-parts.ts";
import type { OperationSpec } from "./operation-types.ts";

/** The operations of the versions of a file. */
export const VERSION_OPERATIONS = {
  listVersions: {
    summary: "List the versions of a file",
    description: "The earlier contents of a file that the account may read, newest first.",
    tag: "Files",
    parameters: ["done", "acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The versions.", content: ["versions", "page"] }],
    failures: ["not-found"],
  },
  changeVersions: {
    summary: "Restore versions of a file, or remove them for good",
    description:
      "The targets are IDs of versions. If one fails, the following ones still run. To restore one is to replace the file by it: the present content becomes a version.",
    tag: "Files",
    parameters: ["dryRun", "contentEncoding", "acceptLanguage", ...TRACE],
    body: "versions",
    responses: commandResponses("the page of the versions"),
    failures: ["too-large", "unsupported-media-type"],
    memberFailures: ["malformed", "denied", "not-found", "too-large", "no-space", "unavailable", "internal"],
  },
  getVersion: {
    summary: "Download a version of a file",
    description: "As the download of the file: completely, or ranges of it.",
    tag: "Files",
    parameters: [
      "inline",
      "range",
      "ifRange",
      "ifMatch",
      "ifNoneMatch",
      "ifUnmodifiedSince",
      "ifModifiedSince",
      "acceptLanguage",
      ...TRACE,
    ],
    responses: DOWNLOAD,
    failures: ["not-found", "precondition-failed", "range-not-satisfiable"],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;
