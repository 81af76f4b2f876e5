import { execFile } from "node:child_process";
import { lchown } from "node:fs/promises";
import { promisify } from "node:util";
import { type FolderOwner, StorageError } from "../../contracts/storage-adapter.ts";
import { mapSystemErrors } from "./errors.ts";
import type { OpenFolder } from "./open-folder.ts";

/** Numeric user and group of an owner; -1 keeps the current one. */
export interface OwnerNumbers {
  readonly uid: number;
  readonly gid: number;
}

/** A directory service that does not respond must not block a login for ever. */
const MAX_LOOK_UP_MILLISECONDS = 10_000;

/**
 * Looks up an owner by name or number. Returns `undefined` if neither user nor group is given.
 * @throws StorageError `denied` if the system does not know the owner.
 */
export async function findOwner({ user, group }: FolderOwner): Promise<OwnerNumbers | undefined> {
  if (user === undefined && group === undefined) return undefined;
  return {
    uid: user === undefined ? -1 : await findNumber(user, () => ask("id", ["-u", "--", user])),
    gid:
      group === undefined
        ? -1
        : await findNumber(group, async () => (await ask("getent", ["group", group])).split(":")[2]),
  };
}

/** Changes the owner of a member, of a symlink itself and not of its target. */
export async function giveTo(folder: OpenFolder, name: string, { uid, gid }: OwnerNumbers): Promise<void> {
  await mapSystemErrors(lchown(folder.at(name), uid, gid));
  await folder.confirm();
}

async function findNumber(name: string, lookUp: () => Promise<string | undefined>): Promise<number> {
  const found = /^\d+$/.test(name) ? name : (await lookUp())?.trim();
  const number = Number(found);
  if (found === undefined || !/^\d+$/.test(found) || number >= 0xffff_ffff) throw unknown(name);
  return number;
}

/**
 * Asks the system, which knows more accounts than the files in /etc. No shell is used, and a name is never read as an
 * option.
 */
async function ask(command: string, args: readonly string[]): Promise<string> {
  const subject = args.at(-1) ?? "";
  if (subject.startsWith("-")) throw unknown(subject);
  try {
    return (await promisify(execFile)(command, args, { timeout: MAX_LOOK_UP_MILLISECONDS })).stdout;
  } catch (cause) {
    throw unknown(subject, cause);
  }
}

function unknown(name: string, cause?: unknown): StorageError {
  return new StorageError("denied", `The system has no user or group ${JSON.stringify(name)}.`, { cause });
}
