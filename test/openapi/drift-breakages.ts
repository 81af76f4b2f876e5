import type { Operation } from "../support/openapi/document.ts";
import type { Breakage } from "./drift-environment.ts";

/** What storages say when they are read, whatever for. */
const READING: readonly Breakage[] = ["denied", "unavailable", "unknown"];
const CREATING: readonly Breakage[] = [
  ...READING,
  "not-found",
  "parent-missing",
  "not-a-folder",
  "bad-name",
  "no-space",
];
const WRITING: readonly Breakage[] = [...CREATING, "not-a-file", "precondition-failed", "incomplete", "too-large"];

/** What storages say when something changes between two looks at it. */
const CHANGED: readonly Breakage[] = ["not-found", "not-a-folder", "not-a-file", "bad-name"];

/** What storages say when they are read, by what is asked. */
export function readingBreakagesOf({ method, template }: Operation): readonly Breakage[] {
  if (!template.startsWith("/home/") || template.includes("__svc__")) return READING;
  if (method === "GET" || method === "HEAD") return [...READING, ...CHANGED];
  if (method === "DELETE" && template === "/home/") return READING;
  // A folder that is none is what `DELETE` of a file finds.
  if (method === "DELETE")
    return [...READING, ...CHANGED.filter((one) => one !== "not-a-file" || !template.endsWith("/"))];
  const isFolder = method === "POST" && template.endsWith("/");
  return isFolder ? [...READING, "not-found", "bad-name"] : [...READING, "bad-name"];
}

/** What storages say when they are written to, by what is written. */
export function writingBreakagesOf({ method, template }: Operation): readonly Breakage[] {
  if (method === "POST") return [...WRITING, "already-exists"];
  if (method === "DELETE") return [...READING, "not-found", "no-space"];
  if (method === "PUT" && template === "/home/{path}") return WRITING;
  return method === "PUT" || method === "MKCOL" ? [...CREATING, "already-exists"] : [];
}
