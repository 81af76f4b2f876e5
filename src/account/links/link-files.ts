import type { AccountFiles } from "../files.ts";
import type { AccountLock } from "../locks/account-locks.ts";
import { toDropFolderFiles, toFileLinkFiles } from "./hidden-files.ts";
import type { LinkRights } from "./link-account.ts";
import { withoutReplacing } from "./without-replacing.ts";

/**
 * Restricts the files of a link's account to what the link shows and permits: a file link has its file alone, a drop
 * folder shows nothing, and files are replaced only by links that may also delete them (SHARING 1, 6.1, 6.2).
 */
export function withLinkRights(files: AccountFiles, rights: LinkRights): AccountFiles {
  const own = withoutOwners(files);
  if (isDropFolder(rights)) return toDropFolderFiles(own);
  const careful = withoutReplacing(own);
  return rights.isFolder ? careful : toFileLinkFiles(careful, rights.path.at(-1) ?? "");
}

/** Whether a link takes files and never shows what is there (SHARING 6.2). */
export function isDropFolder({ isFolder, permissions }: Pick<LinkRights, "isFolder" | "permissions">): boolean {
  const reading = ["allow-read", "allow-list", "allow-traverse"] as const;
  return isFolder && !reading.some((permission) => permissions.includes(permission));
}

/** Hides whose the locks of others are: clients name their users there, such as the account of the link. */
function withoutOwners(files: AccountFiles): AccountFiles {
  const hideOwner = (lock: AccountLock): AccountLock => (lock.token === undefined ? { ...lock, owner: "" } : lock);

  return {
    ...files,
    locksOf: async (segments) => (await files.locksOf(segments)).map(hideOwner),
    async locksOfMembers(folder) {
      const locksOf = await files.locksOfMembers(folder);
      return (name) => locksOf(name).map(hideOwner);
    },
  };
}
