import type { FileVersions } from "../../account/file-versions.ts";
import { toStoragePath } from "../../account/path.ts";
import { createError } from "../../http/errors.ts";
import { isMemberName } from "../../http/path-segment.ts";
import type { AccountContext } from "../../request/context.ts";

/** The URL path of the list of a file's versions. `path`: the path of the file in the account. */
export function toVersionListPath(basePath: string, path: readonly string[]): string {
  return `${basePath}/home/__svc__/versions?path=${encodeURIComponent(toStoragePath(path))}`;
}

/** The file whose versions a request is about, and the versions of the account. */
export interface RequestedVersions {
  readonly segments: readonly string[];
  readonly versions: FileVersions;
}

/**
 * Returns the file that the query names. Below a link there are no versions: it leads to what is there now.
 * @throws HttpError `malformed` if the query names no file.
 */
export function requireVersions({ files, scheme, target }: AccountContext): RequestedVersions {
  const { versions } = files;
  if (versions === undefined || scheme === "link") throw createError("not-found");
  const [first, ...segments] = (new URLSearchParams(target.query).get("path") ?? "").split("/");
  if (first !== "" || segments.length === 0 || !segments.every(isMemberName)) throw createError("path-invalid");
  return { segments, versions };
}
