import type { InspectedEntry } from "../../account/file-attributes.ts";
import type { ResourcePath } from "../../account/path.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { encodeSegment } from "../../webdav/multistatus.ts";

/**
 * Returns what a WebDAV request names. A folder's URL needs no slash at its end, but a file's URL has none.
 * @throws StorageError `not-found`
 */
export async function findResource({ files, path }: AccountContext): Promise<InspectedEntry> {
  const found = await files.inspect(path.segments);
  if (found === undefined || (path.isFolder && found.entry.kind !== "folder")) throw new StorageError("not-found");
  return found;
}

/** The path of a resource, percent-encoded, as multistatus responses have it. */
export function toHref({ root }: Pick<AccountContext, "root">, { segments, isFolder }: ResourcePath): string {
  const path = segments.map(encodeSegment).join("/");
  return `${root}${path}${isFolder && path !== "" ? "/" : ""}`;
}

/** The header that names the folder's URL, for a request whose URL has no slash at its end (RFC 4918 5.2). */
export function toContentLocation(
  context: Pick<AccountContext, "root" | "path">,
  isFolder: boolean,
): { readonly "Content-Location"?: string } {
  const { segments, isFolder: hasSlash } = context.path;
  return isFolder && !hasSlash ? { "Content-Location": toHref(context, { segments, isFolder }) } : {};
}

/** Adds the header of {@link toContentLocation} to a reply about a folder. */
export function withFolderLocation(reply: Reply, context: Pick<AccountContext, "root" | "path">): Reply {
  return { ...reply, headers: [...reply.headers, ...Object.entries(toContentLocation(context, true))] };
}
