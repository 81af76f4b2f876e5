import type { Account } from "../../account/account.ts";
import type { AccountFiles } from "../../account/files.ts";
import { toLinkOperations } from "../../account/links/link-account.ts";
import { isReserved, toStoragePath } from "../../account/path.ts";
import type { PasswordHasher } from "../../auth/passwords/hash.ts";
import type { AccountSettings, Operation } from "../../contracts/account.ts";
import type { LinkPermission } from "../../contracts/links.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import { isMemberName } from "../../http/path-segment.ts";
import { randomHex } from "../../platform/random-hex.ts";
import type { LinkService } from "../../request/context.ts";
import { haveEqualSettings } from "../../schemas/account.ts";
import type { LinkOptionsBody } from "../../schemas/links.ts";
import { type LinkRecord, toRecordedAccount } from "../../sharing/record.ts";

/** The account that a link is made for. */
export interface LinkOwner {
  readonly account: Account;
  /** Its settings before those of its group. */
  readonly settings: AccountSettings;
  readonly files: AccountFiles;
}

/** A link that was made. */
export interface MadeLink {
  readonly record: LinkRecord;
  readonly token: string;
  /** Whether it was made just now, so that it has no uses. Default: false. */
  readonly isNew?: boolean;
}

/** What the making of links needs in addition. */
export interface LinkTools {
  /** POSIX milliseconds. */
  readonly now: number;
  /** Hashes a password. It is called when nothing else refuses the link. */
  readonly hash: (password: string) => Promise<string>;
  /** Called if the settings of the account are to count for the life of the link. Rejects if they count no more. */
  readonly confirmSettings: () => Promise<void>;
  /** The link is only checked, and not kept, after this number of others that would be kept. Default: it is kept. */
  readonly checkedAfter?: number | undefined;
}

/** Returns a function that hashes each password once, however many links get it. */
export function createHashOnce(hash: PasswordHasher["hash"]): LinkTools["hash"] {
  const hashes = new Map<string, Promise<string>>();
  return (password) => {
    const hashing = hashes.get(password) ?? hash(password);
    hashes.set(password, hashing);
    return hashing;
  };
}

/** Parses the path of a link; `undefined` for what is none. A `/` at its end is dropped. */
export function parseLinkPath(path: string): readonly string[] | undefined {
  if (path === "/") return [];
  const [first, ...segments] = path.replace(/\/$/, "").split("/");
  return first === "" && segments.length > 0 && segments.every(isMemberName) ? segments : undefined;
}

/**
 * Makes a link, as far as its account may give what the link is to permit (SHARING 3).
 * @throws HttpError `denied`, `unprocessable`; StorageError `not-found`; what `confirmSettings` throws
 */
export async function makeLink(
  { config, sealed, lookup }: Omit<LinkService, "hasher">,
  owner: LinkOwner,
  path: readonly string[],
  options: LinkOptionsBody,
  { now, hash, confirmSettings, checkedAfter }: LinkTools,
): Promise<MadeLink> {
  const { account, settings } = owner;
  const { password, max_uses: maxUses, max_file_bytes: maxFileBytes, ask_name: askName, label } = options;
  if (!account.allowLinks) throw createError("links-denied");
  if (isReserved(path)) throw createError("name-reserved");
  const isFolder = await findKind(owner, path, options);
  const wanted = options.permissions ?? (["allow-read", "allow-list"] as const);
  // What is for folders has no meaning for a file.
  const permissions = isFolder ? wanted : wanted.filter(isOfFiles);
  if (permissions.length === 0) throw createError("link-permission-of-folders");
  requireRights(account, path, isFolder, permissions);
  if (account.requireLinkPassword && password === undefined) throw createError("link-needs-password");
  if (maxUses !== undefined && sealed.stored === undefined) throw createError("links-not-kept");
  const expires = Math.floor(now / 1000) + toSeconds(config, account, options.expires_in);
  await sealed.stored?.requireRoom(account, config.maxPerAccount, 1 + (checkedAfter ?? 0));
  const found = await lookup(account.name);
  // Another method may have an account of the same name: that one is none of its business.
  const isKnown = found?.outcome === "found" && haveEqualSettings(found.account, settings);
  // Or the account has just been changed or removed.
  if (!isKnown) await confirmSettings();
  const record: LinkRecord = {
    id: randomHex(16),
    ...toRecordedAccount(account),
    ...(!isKnown && { settings }),
    path,
    isFolder,
    permissions: [...new Set(permissions)],
    created: Math.floor(now / 1000),
    expires,
    ...(password !== undefined && { passwordHash: await hash(password) }),
    ...(maxUses !== undefined && { maxUses }),
    ...(maxFileBytes !== undefined && { maxFileBytes }),
    ...(askName && { askName }),
    ...(label && { label }),
  };
  const token = await sealed.toToken(record);
  if (checkedAfter === undefined) await sealed.stored?.add(record, config.maxPerAccount);
  return { record, token, isNew: true };
}

/** Whether a link leads to a folder. A link for one upload leads to a name that is free, in a folder that exists. */
async function findKind(
  { files }: LinkOwner,
  path: readonly string[],
  { permissions = [] }: LinkOptionsBody,
): Promise<boolean> {
  const kind = await files.kindOf(path);
  if (kind !== undefined) return kind === "folder";
  const isForUpload = permissions.includes("allow-write") && !permissions.includes("allow-read");
  if (isForUpload && !(await files.isTaken(path)) && (await files.kindOf(path.slice(0, -1))) === "folder") return false;
  throw new StorageError("not-found");
}

/** Throws unless the account may do what the link is to permit. */
function requireRights(
  account: Account,
  path: readonly string[],
  isFolder: boolean,
  values: readonly LinkPermission[],
): void {
  const mayGive = createGiving(account, path, isFolder);
  if (!values.every(mayGive)) throw createError("link-rights-missing");
  const operations = toLinkOperations(values);
  const removes = operations.has("delete-file") || operations.has("delete-folder");
  if (isFolder && removes && !operations.has("traverse")) throw createError("link-removal-unlisted");
}

/** Returns whether an account may give a permission to a link: of a folder on any path, but list it itself. */
export function createGiving(
  { permissions }: Account,
  path: readonly string[],
  isFolder: boolean,
): (permission: LinkPermission) => boolean {
  const isAllowed = (operation: Operation): boolean => permissions.allows(toStoragePath(path), operation);
  const isGranted = (operation: Operation): boolean => {
    return !isFolder || operation === "list" ? isAllowed(operation) : permissions.grantsSomewhere(operation);
  };
  return (permission) => [...toLinkOperations([permission])].every(isGranted);
}

const OF_FILES: readonly LinkPermission[] = ["allow-read", "allow-write", "allow-delete-file"];

/** Whether a link to a file can have a permission. */
export function isOfFiles(permission: LinkPermission): boolean {
  return OF_FILES.includes(permission);
}

/** How long a link lasts. @throws HttpError `link-lasts-too-long` */
function toSeconds(config: LinkService["config"], account: Account, wanted: number | undefined): number {
  const max = toMaxSeconds(config, account);
  if (wanted === undefined) return Math.min(config.defaultSeconds, max);
  if (wanted > max) throw createError("link-lasts-too-long", { values: { max } });
  return wanted;
}

/** How long a link of an account may last. */
export function toMaxSeconds({ maxSeconds }: LinkService["config"], { maxLinkSeconds }: Account): number {
  return Math.min(maxSeconds, maxLinkSeconds ?? maxSeconds);
}
