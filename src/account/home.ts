import type { Account, AccountSettings } from "../contracts/account.ts";
import { isStorageError, type StorageAdapter } from "../contracts/storage-adapter.ts";
import { HttpError } from "../http/http-error.ts";
import { isMemberName } from "../http/segment.ts";

/** Stands for the account's name in a home folder's path (CONTRACT 7.1). */
// biome-ignore lint/suspicious/noTemplateCurlyInString: that is how the configuration spells it.
const USER = "${USER}";

const DEFAULT_HOME = `/${USER}`;

/**
 * Completes an account's settings.
 * @throws HttpError `denied` when no home folder can be named from them.
 */
export function toAccount(name: string, settings: AccountSettings): Account {
  return {
    name,
    uuid: settings.uuid ?? name,
    email: settings.email ?? "",
    home: toHome(name, settings.home_folder_path ?? DEFAULT_HOME),
    createHome: settings.create_home_folder ?? true,
  };
}

function toHome(name: string, template: string): string {
  const segments = template.split("/").filter((segment) => segment !== "");
  const home = segments.map((segment) => segment.replaceAll(USER, () => encodeAccountName(name)));
  if (!home.every(isMemberName)) throw noHome("The home folder's path is not one.");
  return `/${home.join("/")}`;
}

/**
 * An account's name as a part of a path: one valid segment, and no two names share one (SECURITY 4).
 */
function encodeAccountName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is encoded.
  return name.replace(/[\\/:*?"<>|%\u0000-\u001f\u007f-\u009f]/g, (character) =>
    character === "*" ? "%2A" : encodeURIComponent(character),
  );
}

/**
 * Sees to it that the account's home folder is there, made with its parents where the settings allow (CONTRACT 7.2, 7.3).
 * @throws HttpError `denied` when it is missing and not to be made, or something else stands in its place.
 */
export async function prepareHome(account: Account, storage: StorageAdapter): Promise<void> {
  const found = account.home === "/" ? "folder" : (await storage.stat(account.home))?.kind;
  if (found === "folder") return;
  if (found !== undefined || !account.createHome) throw noHome(`The home folder is ${found ?? "missing"}.`);
  const segments = account.home.slice(1).split("/");
  for (let depth = 1; depth <= segments.length; depth++) {
    await createIfMissing(storage, `/${segments.slice(0, depth).join("/")}`);
  }
}

async function createIfMissing(storage: StorageAdapter, path: string): Promise<void> {
  try {
    await storage.createFolder(path);
  } catch (error) {
    const isThere = isStorageError(error) && error.code === "already-exists";
    if (!isThere || (await storage.stat(path))?.kind !== "folder") throw error;
  }
}

/** The client learns that its home is not to be had; the cause is for the log. */
function noHome(cause: string): HttpError {
  return new HttpError("denied", "The account's home folder is not available.", {}, { cause: new Error(cause) });
}
