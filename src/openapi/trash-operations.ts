import { commandResponses, TRACE } from "./operation-parts.ts";
import type { OperationSpec } from "./operation-types.ts";

/** The operations of the trash of an account. */
export const TRASH_OPERATIONS = {
  listTrash: {
    summary: "List the trash",
    description: "What was removed from folders that the account may list now. Newest first.",
    tag: "Folders",
    parameters: ["done", "acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The entries of the trash.", content: ["trash", "page"] }],
    lacks: ["malformed"],
  },
  changeTrash: {
    summary: "Restore entries of the trash, or remove them for good",
    description:
      "The targets are IDs of entries. If one fails, the following ones still run. `from`, the path of the entry, saves a search. With `to`, it is restored to another path.",
    tag: "Folders",
    parameters: ["dryRun", "contentEncoding", "acceptLanguage", ...TRACE],
    body: "trash",
    responses: commandResponses("the page of the trash"),
    failures: ["too-large", "unsupported-media-type"],
    memberFailures: [
      "malformed",
      "denied",
      "not-found",
      "already-exists",
      "wrong-kind",
      "locked",
      "no-space",
      "unavailable",
      "internal",
    ],
  },
  emptyTrash: {
    summary: "Empty the trash",
    description: "Removes for good what the account sees in the trash. What it may not remove stays, with 403.",
    tag: "Folders",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The trash was emptied." }],
    lacks: ["malformed"],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;
