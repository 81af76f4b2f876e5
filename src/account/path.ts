import { decodeSegment, isMemberName } from "../http/path-segment.ts";

/** A place inside an account: its decoded segments, and whether the URL ended in `/` (1.3). */
export interface ResourcePath {
  readonly segments: readonly string[];
  readonly isFolder: boolean;
}

/** The name below the account's root that belongs to the service (CONTRACT 2.3). */
export const RESERVED_NAME = "__svc__";

/**
 * Reads the raw path below `/home/`, the only place where a path is decoded: each segment once, strictly; `undefined` when it
 * is malformed (CONTRACT 2.1).
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

/** The one canonical text of a path that storages take: `/` and the segments, without a trailing `/`. */
export function toStoragePath(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}

/** The value of the `Server-Path` header: every byte that is not printable ASCII percent-encoded, and `%` (CONTRACT 2.4). */
export function toServerPath(segments: readonly string[]): string {
  return toStoragePath(segments).replace(/[^!-$&-~]+/gu, encodeURIComponent);
}

/** The path part of a URL, relative to the account's root, each segment percent-encoded. */
export function toUrlPath({ segments, isFolder }: ResourcePath): string {
  const path = segments.map(encodeURIComponent).join("/");
  return isFolder && segments.length > 0 ? `${path}/` : path;
}
