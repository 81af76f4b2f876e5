import type { AccountSettings, GroupSettings } from "../contracts/account.ts";
import { HttpError } from "../http/http-error.ts";
import { isMemberName } from "../http/path-segment.ts";
import { RESERVED_NAME } from "./path.ts";
import { compilePermissions, type Permissions } from "./permissions.ts";

/** The group of accounts that name none, and the end of every chain of defaults (CONTRACT 7.1). */
export const DEFAULT_GROUP = "DEFAULT_GROUP";

/** The groups of a service by their identifier. */
export type Groups = ReadonlyMap<string, GroupSettings>;

/** A virtual folder: where it shows, and what it shows. */
export interface VirtualFolder {
  /** Segments below the account's root. */
  readonly virtual: readonly string[];
  /** Segments below the storage's root. */
  readonly real: readonly string[];
}

/** An account whose settings are complete and checked: what the service works with. */
export interface Account {
  /** The name it logged in with. */
  readonly name: string;
  readonly uuid: string;
  readonly email: string;
  readonly group: string;
  /** Segments of its root folder below the storage's root. */
  readonly home: readonly string[];
  readonly createHome: boolean;
  /** Account and group of the operating system for a new home folder. */
  readonly owner: { readonly user?: string; readonly group?: string };
  /** Folders to be inside the home folder, parents before members. */
  readonly structure: readonly (readonly string[])[];
  readonly virtualFolders: readonly VirtualFolder[];
  readonly permissions: Permissions;
  /** What a file that it writes may hold at most, in bytes. Absent: no limit. */
  readonly maxFileBytes?: number;
  readonly allowPasswordChange: boolean;
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how the configuration spells them.
const USER = "${USER}";
const SHARED = "${SHARED}";
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above.

const FULL_CONTROL = [["allow-full-control"]];

/**
 * Completes an account's settings from its group and the default group (CONTRACT 7.1).
 * @throws TypeError naming the member and the reason, as `group: is not one of the groups`: an unknown group, a path that is none, or
 * permissions that say nothing; `username: ...` for a name that can be no folder's.
 */
export function toAccount(name: string, settings: AccountSettings, groups: Groups): Account {
  const group = settings.group ?? DEFAULT_GROUP;
  const own = groups.get(group);
  if (own === undefined && group !== DEFAULT_GROUP) throw new TypeError("group: is not one of the groups");
  const inherited = { ...groups.get(DEFAULT_GROUP), ...own };
  const complete = { ...inherited, ...settings };
  const user = encodeAccountName(name);
  if (!isMemberName(user)) throw new TypeError("username: cannot be the name of a folder");
  return {
    name,
    uuid: settings.uuid ?? name,
    email: complete.email ?? "",
    group,
    home: toSegments(settings.home_folder_path ?? toGroupHome(inherited.home_folder_path), user, "home_folder_path"),
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
    allowPasswordChange: inherited.allow_own_password_change ?? true,
  };
}

/** A path inside the account, where the reserved name cannot be (CONTRACT 2.3). */
function toOwnSegments(path: string, user: string, member: keyof AccountSettings): readonly string[] {
  const segments = toSegments(path, user, member);
  if (segments[0] === RESERVED_NAME) throw new TypeError(`${member}: ${RESERVED_NAME} is reserved`);
  return segments;
}

/** How many accounts are kept compiled: beyond it the one compiled longest ago goes. */
const MAX_COMPILED = 1000;

/**
 * {@link toAccount} for logins, with the limit of the service, 0 for none, on every account. It compiles an account once for as long as its
 * settings stay the same, however often they come anew from a session or a remote authenticator. It throws HttpError `denied`, with the
 * reason as its cause: the credentials are valid, but nothing can be done for them, and the client does not learn why.
 */
export function createAccountResolver(
  groups: Groups,
  maxFileBytes = 0,
): (name: string, settings: AccountSettings) => Account {
  const compiled = new Map<string, Account>();
  /** The same by the very object, which sessions keep. */
  const lastUsed = new WeakMap<AccountSettings, Account>();

  return function resolve(name, settings) {
    const last = lastUsed.get(settings);
    if (last?.name === name) return last;
    const account = resolveByContent(name, settings);
    lastUsed.set(settings, account);
    return account;
  };

  function resolveByContent(name: string, settings: AccountSettings): Account {
    const key = JSON.stringify([name, settings]);
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const account = limited(toUsableAccount(name, settings, groups), maxFileBytes);
    compiled.set(key, account);
    for (const oldest of compiled.keys()) {
      if (compiled.size <= MAX_COMPILED) break;
      compiled.delete(oldest);
    }
    return account;
  }
}

/** The smaller limit counts. */
function limited(account: Account, maxFileBytes: number): Account {
  const { maxFileBytes: own = Number.POSITIVE_INFINITY } = account;
  return maxFileBytes > 0 && maxFileBytes < own ? { ...account, maxFileBytes } : account;
}

function toUsableAccount(name: string, settings: AccountSettings, groups: Groups): Account {
  try {
    return toAccount(name, settings, groups);
  } catch (cause) {
    throw new HttpError("denied", "The account cannot be used.", {}, { cause });
  }
}

/** A group's home folder: one for each account, unless it says that it is shared (CONTRACT 7.1). */
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

/** The first permissions that say anything decide: the account's, its group's, the default group's (CONTRACT 7.4). */
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

/** An account's name as a part of a path: one valid segment, and no two names share one (SECURITY 4). */
function encodeAccountName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is encoded.
  return name.replace(/[\\/:*?"<>|%\u0000-\u001f\u007f-\u009f]/g, (character) =>
    character === "*" ? "%2A" : encodeURIComponent(character),
  );
}
