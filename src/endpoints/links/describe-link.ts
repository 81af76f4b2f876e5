import { toStoragePath, toUrlPath } from "../../account/path.ts";
import type { Link } from "../../contracts/links.ts";
import type { LinkService } from "../../request/context.ts";
import type { LinkBody } from "../../schemas/links.ts";
import type { MadeLink } from "./make-link.ts";

/** The paths of a link's URLs, below the base path of the service. */
export function toLinkPaths(
  basePath: string,
  { record, token }: MadeLink,
): Pick<Link, "urlPath"> & { readonly filePath?: string } {
  const urlPath = `${basePath}/__svc__/share/${token}/`;
  const { path, isFolder } = record;
  return { urlPath, ...(!isFolder && { filePath: urlPath + toUrlPath({ segments: path.slice(-1), isFolder }) }) };
}

/** Returns a link as the library has it. `origin`: empty if it is not known. */
export async function toLink(
  { sealed }: LinkService,
  { basePath, origin }: { readonly basePath: string; readonly origin: string },
  made: MadeLink,
): Promise<Link> {
  const { id, path, isFolder, permissions, created, expires, maxUses, maxFileBytes, ...record } = made.record;
  const { urlPath, filePath } = toLinkPaths(basePath, made);
  const hasOrigin = origin !== "";
  return {
    id,
    path: toStoragePath(path),
    isFolder,
    urlPath,
    ...(filePath !== undefined && { filePath }),
    ...(hasOrigin && { url: origin + urlPath }),
    ...(hasOrigin && filePath !== undefined && { fileUrl: origin + filePath }),
    permissions,
    created: new Date(created * 1000),
    expires: new Date(expires * 1000),
    hasPassword: record.passwordHash !== undefined,
    uses: maxUses === undefined || made.isNew ? 0 : ((await sealed.uses?.count({ id })) ?? 0),
    ...(maxUses !== undefined && { maxUses }),
    ...(maxFileBytes !== undefined && { maxFileBytes }),
    askName: record.askName === true,
    label: record.label ?? "",
  };
}

/** Returns a link as responses have it (SHARING 3.2). */
export function toLinkBody(link: Link): LinkBody {
  return {
    id: link.id,
    path: link.path,
    is_directory: link.isFolder,
    url: link.url ?? link.urlPath,
    file_url: link.fileUrl ?? link.filePath ?? null,
    permissions: link.permissions,
    created: link.created.getTime() / 1000,
    expires: link.expires.getTime() / 1000,
    has_password: link.hasPassword,
    uses: link.uses,
    max_uses: link.maxUses ?? null,
    max_file_bytes: link.maxFileBytes ?? null,
    ask_name: link.askName,
    label: link.label,
  };
}
