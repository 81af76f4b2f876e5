import { decodeSegment, isMemberName } from "../http/path-segment.ts";

/** A path inside an account: its decoded segments, and whether the URL ended in `/` (1.3). */
export interface ResourcePath {
  readonly segments: readonly string[];
  readonly isFolder: boolean;
}

/** The name in the account's root folder that is reserved for the service (CONTRACT 2.3). */
export const RESERVED_NAME = "__svc__";

/**
 * Parses the raw path below `/home/`. Returns `undefined` for a malformed path (CONTRACT 2.1). Only this function
 * decodes paths, so each segment is decoded exactly once.
 */
export function parseResourcePath(raw: string): ResourcePath | undefined {
  if (raw === "") return { segments: [], isFolder: true };
  const isFolder = raw.endsWith("/");
  const segments = (isFolder ? raw.slice(0, -1) : raw).split("/").map(decodeSegment);
  return segments.every(isDecodedName) ? { segments, isFolder } : undefined;
}

function isDecodedName(name: string | undefined): name is string {
  return name !== undefined && isMemberName(name);
}

/** Whether a path is the reserved name, or below it. */
export function isReserved(segments: readonly string[]): boolean {
  return segments[0] === RESERVED_NAME;
}

/** Returns a path in the form that storages take: `/` and the segments, without a trailing `/`. */
export function toStoragePath(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}

/**
 * Returns the value of the `Server-Path` header. Percent-encodes `%`, spaces and everything that is not printable ASCII
 * (CONTRACT 2.4).
 */
export function toServerPath(segments: readonly string[]): string {
  return toStoragePath(segments).replace(/[^!-$&-~]+/gu, encodeURIComponent);
}

/** Returns a URL path relative to the account's root, with each segment percent-encoded. */
export function toUrlPath({ segments, isFolder }: ResourcePath): string {
  const path = segments.map(encodeURIComponent).join("/");
  return isFolder && segments.length > 0 ? `${path}/` : path;
}
