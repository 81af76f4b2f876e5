import type { StoreCall, StoreFault } from "./failures.ts";

/** What a client asks for, and what a store is asked for then. */
export interface StoreOperation {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly status: number;
  /** Its status when it has been done already. */
  readonly again: number;
  readonly uses: readonly StoreCall[];
  /** The calls that it makes only after a failure: that failure, and the calls that undo what was started. */
  readonly undoes?: readonly (readonly [StoreFault, ...StoreCall[]])[];
  /** It changes several objects, each of which is in its old or its new state. */
  readonly isOfSeveral?: true;
}

const SMALL = new TextEncoder().encode("new content");
/** The content of two parts. */
export const LARGE = new Uint8Array(5_300_000).fill(110);
const JSON_TYPE = { accept: "application/json" };

/** All that clients do to the objects of a store. */
export const OPERATIONS: readonly StoreOperation[] = [
  {
    name: "an upload",
    method: "PUT",
    target: "/home/folder/new",
    body: SMALL,
    status: 201,
    again: 201,
    uses: ["GET list", "PUT", "HEAD"],
  },
  {
    name: "an overwrite",
    method: "PUT",
    target: "/home/file",
    body: SMALL,
    status: 201,
    again: 201,
    uses: ["GET list", "PUT", "HEAD"],
  },
  {
    name: "a creation that must not replace",
    method: "PUT",
    target: "/home/new",
    headers: { "if-none-match": "*" },
    body: SMALL,
    status: 201,
    again: 412,
    uses: ["GET list", "PUT", "HEAD"],
  },
  {
    name: "an upload in parts",
    method: "PUT",
    target: "/home/file",
    body: LARGE,
    status: 201,
    again: 201,
    uses: ["GET list", "POST begin", "PUT part", "POST complete", "HEAD"],
    undoes: [
      [{ call: "PUT part", failure: "500", lasts: "on" }, "DELETE upload", "GET parts"],
      [{ call: "POST begin", failure: "lost answer", lasts: "once" }, "GET uploads", "GET parts", "DELETE upload"],
    ],
  },
  { name: "a download", method: "GET", target: "/home/file", status: 200, again: 200, uses: ["GET"] },
  {
    name: "a listing",
    method: "GET",
    target: "/home/folder/",
    headers: JSON_TYPE,
    status: 200,
    again: 200,
    uses: ["GET list"],
  },
  {
    name: "a new folder",
    method: "PUT",
    target: "/home/made/",
    headers: JSON_TYPE,
    status: 201,
    again: 422,
    uses: ["HEAD", "GET list", "PUT"],
  },
  {
    name: "a deletion",
    method: "DELETE",
    target: "/home/file",
    headers: JSON_TYPE,
    status: 204,
    again: 404,
    uses: ["HEAD", "DELETE"],
  },
  {
    name: "a deletion of a tree",
    method: "DELETE",
    target: "/home/folder/",
    headers: JSON_TYPE,
    status: 204,
    again: 404,
    uses: ["HEAD", "GET list", "POST delete"],
    isOfSeveral: true,
  },
];
