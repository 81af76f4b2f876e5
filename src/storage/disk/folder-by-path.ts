import { type BigIntStats, constants, fstat } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors } from "./errors.ts";
import {
  type LookUpOptions,
  MEMBER_FLAGS,
  NO_FOLDER_SYNC,
  type OpenFolder,
  syncFolder,
  toIdentity,
  withNameLock,
} from "./open-folder.ts";
import { BIGINT, lookAt, type MemberName, openDescriptor, release } from "./system-calls.ts";

const statAsync = promisify(fstat);
/**
 * How often a replaced member is looked up or opened again. From the second attempt on, writers of this process wait.
 */
const MAX_ATTEMPTS = 20;
/**
 * A member is used only if this many checks in a row find the same member and the same folder. `WARY_CONFIRMATIONS`
 * applies for `WARY_MS` milliseconds after something else was at the path of an open folder, which may be an attack.
 */
const CONFIRMATIONS = 3;
const WARY_CONFIRMATIONS = 12;
const WARY_MS = 60_000;
let waryUntil = Number.NEGATIVE_INFINITY;

/**
 * Opens a folder by its real path, for systems without descriptor paths. `confirm` compares path and inode with those
 * at the opening. A name whose letters differ from the stored name, for example in case, is not found.
 */
export async function openByPath(path: string): Promise<OpenFolder> {
  const identity = await identify(path);

  function at(name: MemberName): string {
    return join(path, name.toString());
  }

  async function confirm(): Promise<void> {
    const found = await mapErrorCode(identify(path), "not-a-folder", "unavailable").catch((error: unknown) => {
      if (hasCode(error, "unavailable")) waryUntil = performance.now() + WARY_MS;
      throw error;
    });
    if (found === identity) return;
    waryUntil = performance.now() + WARY_MS;
    throw new StorageError("unavailable", `Another folder is at ${path}.`);
  }

  /** Runs attempts until one result is not `"replaced"`, which means that the member changed during the attempt. */
  async function attempts<T>(
    name: string,
    attempt: () => Promise<T | "replaced">,
    { hasLock = false }: LookUpOptions = {},
  ): Promise<T> {
    const isFree = (count: number): boolean => hasLock || count === 0;
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      const result = await (isFree(count) ? attempt() : withNameLock({ identity: () => identity }, name, attempt));
      if (result !== "replaced") return result;
    }
    throw new StorageError("unavailable", `${at(name)} keeps being replaced.`);
  }

  /** Returns stats only if all confirmations saw the same member. */
  async function lookUp(name: string): Promise<BigIntStats | undefined | "replaced"> {
    await confirm();
    const found = await mapSystemErrors(lookAt(at(name)));
    return (await isStillAt(found && toIdentity(found), name)) ? found : "replaced";
  }

  async function openMember(name: string, flags: number, mode?: number): Promise<number | "replaced"> {
    await confirm();
    const descriptor = await mapSystemErrors(openDescriptor(at(name), flags | MEMBER_FLAGS, mode));
    if (await isOpenedAt(descriptor, name).catch(() => false)) return descriptor;
    release(descriptor);
    const found = await lookUp(name);
    if (found !== "replaced" && found?.isSymbolicLink())
      throw new StorageError("not-found", `${at(name)} is a symbolic link.`);
    return "replaced";
  }

  /** Whether a descriptor belongs to the member in this folder, and not to something that a symlink led to. */
  async function isOpenedAt(descriptor: number, name: string): Promise<boolean> {
    return isStillAt(toIdentity(await statAsync(descriptor, BIGINT)), name);
  }

  /**
   * Whether the member that was looked up, or no member, is in this folder.
   *
   * To deceive this check, an attacker has to swap folders at each of several moments and undo the swap between them.
   * An attacker who swaps that often is caught by one of the checks first, and then more confirmations are required.
   * Another member in the same folder is not a sign of an attack, because writers replace files.
   */
  async function isStillAt(member: string | undefined, name: string): Promise<boolean> {
    const isSure = (rounds: number): boolean =>
      rounds >= (performance.now() < waryUntil ? WARY_CONFIRMATIONS : CONFIRMATIONS);
    for (let round = 0; !isSure(round); round += 1) {
      await confirm();
      const found = await mapSystemErrors(lookAt(at(name)));
      if ((found && toIdentity(found)) !== member) return false;
    }
    await confirm();
    return true;
  }

  return {
    identity: () => identity,
    at,
    enter: (name) => openByPath(at(name)),
    leave: () => openByPath(dirname(path)),
    openFile: (name, flags, mode) => attempts(name, () => openMember(name, flags, mode)),
    lookUp: (name, options) => attempts(name, () => lookUp(name), options),
    confirm,
    sync: async () => {
      const descriptor = await mapSystemErrors(
        ignoreErrors(openDescriptor(path, constants.O_RDONLY), ...NO_FOLDER_SYNC),
      );
      if (descriptor === undefined) return;
      // Another folder may be at the path by now.
      const sync = async () => syncFolder(toIdentity(await statAsync(descriptor, BIGINT)), descriptor);
      await mapSystemErrors(sync()).finally(() => release(descriptor));
    },
    close: () => {},
  };
}

async function identify(path: string): Promise<string> {
  const stats = await mapSystemErrors(lstat(path, BIGINT));
  if (!stats.isDirectory()) throw new StorageError("not-a-folder", `${path} is not a folder.`);
  if ((await mapSystemErrors(realpath(path))) !== path)
    throw new StorageError("not-found", `${path} resolves to another path.`);
  return toIdentity(stats);
}
