import type { AccountSettings, GroupSettings } from "../contracts/account.ts";
import type { QuotaLimit } from "../contracts/quota.ts";
import { createError } from "../http/errors.ts";
import { isMemberName } from "../http/path-segment.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import { RESERVED_NAME, toStoragePath } from "./path.ts";
import { compilePermissions, type Permissions } from "./permissions.ts";

/** The group of accounts that name no group. Its settings are the last defaults of every account (CONTRACT 7.1). */
export const DEFAULT_GROUP = "DEFAULT_GROUP";

/** The groups of a service by their identifier. */
export type Groups = ReadonlyMap<string, GroupSettings>;

/** A virtual folder: the path where it appears, and the folder that it shows. */
export interface VirtualFolder {
  /** Segments below the account's root. */
  readonly virtual: readonly string[];
  /** Segments below the storage's root. */
  readonly real: readonly string[];
}

/** An account with complete and validated settings, as the service uses it. */
export interface Account {
  /** The user name of the login. */
  readonly name: string;
  readonly uuid: string;
  readonly email: string;
  readonly group: string;
  /** Segments of its root folder below the storage's root. */
  readonly home: readonly string[];
  readonly createHome: boolean;
  /** The operating system's user and group that will own a new home folder. */
  readonly owner: { readonly user?: string; readonly group?: string };
  /** Folders to create in the home folder, parents before members. */
  readonly structure: readonly (readonly string[])[];
  readonly virtualFolders: readonly VirtualFolder[];
  readonly permissions: Permissions;
  /** The size limit of a file that the account writes, in bytes. Absent: no limit. */
  readonly maxFileBytes?: number;
  /** Its home folder, even if the account shows only a part of it, and how much may be there. */
  readonly quota: QuotaLimit;
  readonly allowPasswordChange: boolean;
  /** Whether it may make links, and whether its links are valid. */
  readonly allowLinks: boolean;
  /** Whether each new link must have a password. */
  readonly requireLinkPassword: boolean;
  /** The longest time from the creation of a link to its end, in seconds. Absent: no limit of its own. */
  readonly maxLinkSeconds?: number;
  /** Whether it may make and revoke API keys of its own. */
  readonly allowOwnKeys: boolean;
  /** Whether HTTP Basic takes only an API key. */
  readonly requireKeyForBasic: boolean;
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the configuration spells them this way.
const USER = "${USER}";
const SHARED = "${SHARED}";
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above.

const FULL_CONTROL = [["allow-full-control"]];

/**
 * Completes an account's settings with those of its group and of the default group (CONTRACT 7.1).
 * @throws TypeError that names the member and the reason, as in `group: is not a configured group`, for an unknown
 * group, an invalid path or invalid permissions; `username: ...` for a user name that cannot be the name of a folder.
 */
export function toAccount(name: string, settings: AccountSettings, groups: Groups): Account {
  const group = settings.group ?? DEFAULT_GROUP;
  const own = groups.get(group);
  if (own === undefined && group !== DEFAULT_GROUP) throw new TypeError("group: is not a configured group");
  const inherited = { ...groups.get(DEFAULT_GROUP), ...own };
  const complete = { ...inherited, ...settings };
  const user = encodeAccountName(name);
  if (!isMemberName(user)) throw new TypeError("username: cannot be the name of a folder");
  const home = toSegments(
    settings.home_folder_path ?? toGroupHome(inherited.home_folder_path),
    user,
    "home_folder_path",
  );
  return {
    name,
    uuid: settings.uuid ?? name,
    email: complete.email ?? "",
    group,
    home,
    createHome: complete.create_home_folder ?? true,
    owner: {
      ...(complete.create_home_folder_owner !== undefined && { user: complete.create_home_folder_owner }),
      ...(complete.create_home_folder_group !== undefined && { group: complete.create_home_folder_group }),
    },
    structure: (complete.home_folder_structure ?? []).map((path) => toOwnSegments(path, user, "home_folder_structure")),
    virtualFolders: (complete.virtual_folders ?? []).map(([virtual, real]) => ({
      virtual: toOwnSegments(virtual, user, "virtual_folders"),
      real: toSegments(real, user, "virtual_folders"),
    })),
    permissions: toPermissions([settings, own, groups.get(DEFAULT_GROUP)], user),
    ...(complete.max_file_bytes && { maxFileBytes: complete.max_file_bytes }),
    quota: toQuota(home, complete),
    allowPasswordChange: inherited.allow_own_password_change ?? true,
    allowLinks: complete.allow_links ?? true,
    requireLinkPassword: complete.require_link_password ?? false,
    ...(complete.max_link_seconds && { maxLinkSeconds: complete.max_link_seconds }),
    allowOwnKeys: complete.allow_own_keys ?? true,
    requireKeyForBasic: complete.require_key_for_basic ?? false,
  };
}

/** The limit of a home folder. 0 stands for no limit. */
function toQuota(
  home: readonly string[],
  { quota_bytes: bytes = 0, quota_files: files = 0 }: AccountSettings,
): QuotaLimit {
  return { path: toStoragePath(home), ...(bytes > 0 && { bytes }), ...(files > 0 && { files }) };
}

/** Converts a path inside the account, where the reserved name is not allowed (CONTRACT 2.3). */
function toOwnSegments(path: string, user: string, member: keyof AccountSettings): readonly string[] {
  const segments = toSegments(path, user, member);
  if (segments[0] === RESERVED_NAME) throw new TypeError(`${member}: ${RESERVED_NAME} is reserved`);
  return segments;
}

/** How many compiled accounts are kept; beyond that the one compiled first is dropped. */
const MAX_COMPILED = 1000;

/**
 * Creates a function that does {@link toAccount} for logins. It applies the service's file size limit to every account;
 * 0 means no limit. It compiles an account once and reuses the result while the settings are equal, even if a session
 * or a remote authenticator gives them as new objects.
 *
 * The function throws HttpError `denied` with the reason as its cause when the account cannot be used. The credentials
 * were valid then, but the client must not learn the reason.
 */
export function createAccountResolver(
  groups: Groups,
  maxFileBytes = 0,
): (name: string, settings: AccountSettings) => Account {
  const compiled = createBoundedMap<string, Account>(MAX_COMPILED);
  /** A faster look-up by object identity, because sessions keep their settings object. */
  const bySettings = new WeakMap<AccountSettings, Account>();

  return function resolve(name, settings) {
    const known = bySettings.get(settings);
    if (known?.name === name) return known;
    const account = resolveByContent(name, settings);
    bySettings.set(settings, account);
    return account;
  };

  function resolveByContent(name: string, settings: AccountSettings): Account {
    const key = JSON.stringify([name, settings]);
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const account = withFileLimit(toUsableAccount(name, settings, groups), maxFileBytes);
    compiled.set(key, account);
    return account;
  }
}

/** Applies the smaller of the account's limit and the service's limit. */
function withFileLimit(account: Account, maxFileBytes: number): Account {
  const { maxFileBytes: own = Number.POSITIVE_INFINITY } = account;
  return maxFileBytes > 0 && maxFileBytes < own ? { ...account, maxFileBytes } : account;
}

function toUsableAccount(name: string, settings: AccountSettings, groups: Groups): Account {
  try {
    return toAccount(name, settings, groups);
  } catch (cause) {
    throw createError("account-unusable", { cause });
  }
}

/**
 * Returns the home folder that a group's accounts get: one per account, unless the group shares its folder (CONTRACT
 * 7.1).
 */
function toGroupHome(path: string = ""): string {
  if (path.startsWith(SHARED)) return path.slice(SHARED.length);
  return path.includes(USER) ? path : `${path}/${USER}`;
}

function toSegments(path: string, user: string, member: keyof AccountSettings): readonly string[] {
  const segments = path.split("/").filter((segment) => segment !== "");
  const filled = segments.map((segment) => segment.replaceAll(USER, () => user));
  if (!filled.every(isMemberName)) throw new TypeError(`${member}: is not the path of a folder`);
  return filled;
}

/**
 * Uses the first permissions that are not empty: the account's, its group's, then the default group's (CONTRACT 7.4).
 */
function toPermissions(
  sources: readonly (Pick<AccountSettings, "permissions"> | undefined)[],
  user: string,
): Permissions {
  const found = sources.find((source) => source?.permissions !== undefined && source.permissions.length > 0);
  try {
    return compilePermissions(found?.permissions ?? FULL_CONTROL, user);
  } catch (cause) {
    throw new TypeError((cause as Error).message, { cause });
  }
}

/** Encodes a user name as one valid segment of a path. Different names get different segments (SECURITY 4). */
function encodeAccountName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must be encoded.
  return name.replace(/[\\/:*?"<>|%\u0000-\u001f\u007f-\u009f]/g, (character) =>
    character === "*" ? "%2A" : encodeURIComponent(character),
  );
}
