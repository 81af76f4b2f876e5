import { FORM_TYPE, formOf, uploadsOf } from "../../support/forms.ts";
import type { FileCall } from "./failing-calls.ts";

/** What a client asks for, and what the disk is asked for then. */
export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: () => Uint8Array | ReadableStream<Uint8Array>;
  /** Who asks. Default: alice, whose home is the storage's root. */
  readonly as?: "bob";
  /** Its status when nothing fails. */
  readonly status: number;
  /** Its status, or its text, when something fails, where that is not the failure's own. */
  readonly refused?: { readonly status?: number; readonly text?: string };
  /** Its status if it was done already: by an attempt that failed according to its answer, after its last step. */
  readonly again: number;
  /** Its status if the attempt was left in the middle, because what undoes it fails as well. */
  readonly halfway?: number;
  /** The headers of the client's second request, if they are others than those of the first one. */
  readonly retriedWith?: Readonly<Record<string, string>>;
  /** The calls to the system that it is made of, on both ways: at once, and in other threads. No other one is made. */
  readonly uses: readonly FileCall[];
  /** Of {@link uses}, what fails without harm where it belongs to a file that is only read. */
  readonly spared?: readonly FileCall[];
  /** A call that fails, and the call that then undoes what was started. */
  readonly undoes?: readonly [failing: FileCall, undoing: FileCall];
  /** It changes several members, each of which is in its old or its new state; else all of them are in one. */
  readonly isOfSeveral?: true;
  /** The file system can clone files. */
  readonly isCloned?: true;
  /** What it replaces, which is removed first (RFC 4918 9.9.3): it may be missing if the rest fails as well. */
  readonly replaces?: string;
}

const isRoot = process.getuid?.() === 0;
const LARGE = new Uint8Array(200_000).fill(110);

/** What every change does to a file that is new. */
const MAKING: readonly FileCall[] = [
  ...(["open folder", "lstat", "open new file", "write", "futimes", "fsync file", "fstat"] as const),
  ...(["close file", "fsync folder", "close folder", "readlink"] as const),
];
const UNDONE = { undoes: ["fsync file", "unlink"] } as const;
const LISTING: readonly FileCall[] = ["open folder", "opendir", "readdir", "lstat", "closedir", "close folder"];
/** What a copy does to a tree that it makes in a temporary folder. */
const COPYING: readonly FileCall[] = [
  ...(["open folder", "opendir", "readdir", "lstat", "closedir", "open file", "read", "mkdir"] as const),
  ...(["open new file", "write", "futimes", "fsync file", "fstat", "close file", "fsync folder"] as const),
  ...(["close folder", "readlink"] as const),
];
/** What a copy does to a large file, which it clones in a private folder. */
const CLONING: readonly FileCall[] = [
  ...(["open folder", "lstat", "open file", "mkdir", "open new file", "clone", "futimes", "fsync file"] as const),
  ...(["fstat", "close file", "unlink", "rmdir", "fsync folder", "close folder", "readlink"] as const),
];
const JSON_TYPE = { accept: "application/json" };

/** Bytes in chunks of no announced length. */
function inChunks(bytes: Uint8Array, length: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + length));
      at += length;
      if (at >= bytes.byteLength) controller.close();
    },
  });
}

/** All that clients do to files, of which each step may fail. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: "an upload",
    method: "PUT",
    target: "/home/new",
    body: () => Buffer.from("new content"),
    status: 201,
    again: 201,
    uses: [...MAKING, "rename"],
    ...UNDONE,
  },
  {
    name: "an upload in chunks",
    method: "PUT",
    target: "/home/tree/new",
    body: () => inChunks(LARGE, 30_000),
    status: 201,
    again: 201,
    uses: [...MAKING, "rename"],
    ...UNDONE,
  },
  {
    name: "an overwrite",
    method: "PUT",
    target: "/home/file",
    body: () => Buffer.from("new content"),
    status: 201,
    again: 201,
    uses: [...MAKING, "rename", "fchmod", ...(isRoot ? (["fchown"] as const) : [])],
    ...UNDONE,
  },
  {
    name: "a creation that must not replace",
    method: "PUT",
    target: "/home/new",
    headers: { "if-none-match": "*" },
    body: () => Buffer.from("new content"),
    status: 201,
    again: 412,
    uses: [...MAKING, "link", "unlink"],
  },
  {
    name: "an upload by form",
    method: "POST",
    target: "/home/tree/",
    headers: { ...JSON_TYPE, "content-type": FORM_TYPE, origin: "http://files.example" },
    body: () => formOf(["action", "upload-file"], ...uploadsOf({ first: "first content", a: "second content" })),
    status: 200,
    refused: { status: 422 },
    again: 200,
    uses: [...MAKING, "rename"],
    ...UNDONE,
    isOfSeveral: true,
  },
  {
    name: "a small download",
    method: "GET",
    target: "/home/file",
    status: 200,
    again: 200,
    uses: ["open folder", "open file", "fstat", "read", "close file", "close folder"],
  },
  {
    name: "a large download",
    method: "GET",
    target: "/home/long/large",
    status: 200,
    again: 200,
    uses: ["open folder", "open file", "fstat", "read", "close file", "close folder"],
  },
  { name: "a listing", method: "GET", target: "/home/", headers: JSON_TYPE, status: 200, again: 200, uses: LISTING },
  {
    name: "an archive",
    method: "GET",
    target: "/home/",
    headers: { accept: "application/zip" },
    status: 200,
    again: 200,
    uses: [...LISTING, "readlink", "open file", "fstat", "read", "close file"],
  },
  {
    name: "a new folder",
    method: "PUT",
    target: "/home/made/",
    headers: JSON_TYPE,
    status: 201,
    again: 422,
    uses: ["open folder", "mkdir", "fstat", "fsync folder", "close folder"],
  },
  {
    name: "a home that its first login makes",
    method: "GET",
    target: "/home/",
    headers: JSON_TYPE,
    as: "bob",
    status: 200,
    again: 200,
    uses: [...LISTING, "mkdir", "lchown", "fstat", "rename", "fsync folder"],
    undoes: ["lchown", "rmdir"],
    refused: { text: "The account cannot be used." },
  },
  {
    name: "a copy of a tree",
    method: "COPY",
    target: "/home/tree/",
    headers: { destination: "/home/copy/" },
    status: 201,
    again: 204,
    uses: [...COPYING, "rename"],
    spared: ["close file"],
    ...UNDONE,
  },
  {
    name: "a copy of a large file",
    method: "COPY",
    target: "/home/long/large",
    headers: { destination: "/home/file" },
    status: 204,
    again: 204,
    uses: [...CLONING, "fchmod", "link", "rename", ...(isRoot ? (["fchown"] as const) : [])],
    // Then it is read and written.
    spared: ["close file", "open new file", "mkdir"],
    isCloned: true,
  },
  {
    name: "a copy of a large file that cannot be cloned",
    method: "COPY",
    target: "/home/long/large",
    headers: { destination: "/home/copy" },
    status: 201,
    again: 204,
    uses: [...CLONING, "read", "write", "rename"],
    spared: ["close file", "open new file", "mkdir"],
    ...UNDONE,
  },
  {
    name: "a copy of a file over a folder",
    method: "COPY",
    target: "/home/file",
    headers: { destination: "/home/other" },
    status: 204,
    again: 204,
    halfway: 201,
    uses: [...MAKING, "open file", "read", "opendir", "readdir", "closedir", "rename", "unlink", "rmdir"],
    spared: ["close file"],
    ...UNDONE,
    isOfSeveral: true,
    replaces: "other",
  },
  {
    name: "a move to a name that is free",
    method: "MOVE",
    target: "/home/file",
    headers: { destination: "/home/tree/new" },
    status: 201,
    again: 404,
    isOfSeveral: true,
    uses: ["open folder", "lstat", "fstat", "rename", "fsync folder", "close folder"],
  },
  {
    name: "a move that must not replace",
    method: "MOVE",
    target: "/home/file",
    headers: { destination: "/home/tree/new", overwrite: "F" },
    retriedWith: { destination: "/home/tree/new" },
    status: 201,
    again: 404,
    halfway: 204,
    isOfSeveral: true,
    uses: ["open folder", "lstat", "fstat", "link", "unlink", "fsync folder", "close folder"],
  },
  {
    name: "a move of a file over a file",
    method: "MOVE",
    target: "/home/file",
    headers: { destination: "/home/tree/a" },
    status: 204,
    again: 404,
    uses: ["open folder", "lstat", "fstat", "rename", "fsync folder", "close folder"],
  },
  {
    name: "a move of a folder over a folder",
    method: "MOVE",
    target: "/home/tree/inner/",
    headers: { destination: "/home/other/" },
    status: 204,
    again: 404,
    halfway: 201,
    uses: [...LISTING, "fstat", "rename", "unlink", "rmdir", "fsync folder"],
    isOfSeveral: true,
    replaces: "other",
  },
  {
    name: "a deletion",
    method: "DELETE",
    target: "/home/file",
    headers: JSON_TYPE,
    status: 204,
    again: 404,
    uses: ["open folder", "lstat", "fstat", "unlink", "fsync folder", "close folder"],
  },
  {
    name: "a deletion of a tree",
    method: "DELETE",
    target: "/home/tree/",
    headers: JSON_TYPE,
    status: 204,
    again: 404,
    uses: [...LISTING, "fstat", "unlink", "rmdir", "fsync folder"],
    isOfSeveral: true,
  },
];
