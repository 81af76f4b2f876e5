import { execFile } from "node:child_process";
import { lchown } from "node:fs/promises";
import { promisify } from "node:util";
import { type FolderOwner, StorageError } from "../../contracts/storage-adapter.ts";
import { mapSystemErrors } from "./errors.ts";
import type { OpenFolder } from "./open-folder.ts";

/** The owner as the file system counts it; -1 leaves as it is. */
export interface OwnerNumbers {
  readonly uid: number;
  readonly gid: number;
}

/** A directory service that does not answer must not hold up a login for ever. */
const MAX_LOOK_UP_MILLISECONDS = 10_000;

/**
 * Looks an owner up, by name or number; `undefined` for the process's own.
 * @throws StorageError `denied` for one that the system does not know.
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

/** Gives a member to an owner, a link itself and not its target. */
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

/** The system's own look-up, which knows more than the files in /etc. Nothing is given to a shell, nor taken for a flag. */
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
  return new StorageError("denied", `The system has no owner ${JSON.stringify(name)}.`, { cause });
}
