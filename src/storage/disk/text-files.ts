import { constants, fstatSync, fsync, writeFile } from "node:fs";
import { rename } from "node:fs/promises";
import { promisify } from "node:util";
import { mapSystemErrors, undefinedIfMissing } from "./errors.ts";
import type { OpenFolder } from "./open-folder.ts";
import { tryUnlink } from "./remove.ts";
import { closeFile, readSmall } from "./system-calls.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";

/*
 * Small texts that the storage keeps for itself: properties, and the states of uploads.
 */

const sync = promisify(fsync);
const write = promisify(writeFile);

/**
 * Stores a text as a file, in place of what has the name. Readers see the previous or the new text, also after a crash.
 * `mustFlush`: the text must survive a power failure. Its name does so after a `sync` of the folder.
 */
export async function replaceTextFile(
  folder: OpenFolder,
  name: string,
  text: string,
  { mustFlush, mode = 0o666 }: { readonly mustFlush: boolean; readonly mode?: number },
): Promise<void> {
  const temporary = reserveTemporaryName();
  let isRemoved = true;
  try {
    const { O_CREAT, O_EXCL, O_WRONLY } = constants;
    const descriptor = await folder.openFile(temporary, O_CREAT | O_EXCL | O_WRONLY, mode);
    isRemoved = false;
    await writeText(descriptor, text, mustFlush);
    await folder.confirm();
    await mapSystemErrors(rename(folder.at(temporary), folder.at(name)));
    isRemoved = true;
  } finally {
    if (!isRemoved) isRemoved = await tryUnlink(folder, temporary);
    releaseTemporaryName(temporary, isRemoved);
  }
}

async function writeText(descriptor: number, text: string, mustFlush: boolean): Promise<void> {
  try {
    await mapSystemErrors(write(descriptor, text));
    if (mustFlush) await mapSystemErrors(sync(descriptor));
  } finally {
    await closeFile(descriptor, { isQuick: true });
  }
}

/** Returns the text of a file; `undefined` if there is none, or something else or larger than `maxBytes`. */
export async function readTextFile(folder: OpenFolder, name: string, maxBytes: number): Promise<string | undefined> {
  const descriptor = await folder.openFile(name, constants.O_RDONLY).catch(undefinedIfMissing);
  if (descriptor === undefined) return undefined;
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    return await mapSystemErrors(readText(descriptor, stats.size));
  } finally {
    await closeFile(descriptor, { isQuick: true });
  }
}

async function readText(descriptor: number, size: number): Promise<string> {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const count = await readSmall(descriptor, bytes.subarray(filled), filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.toString("utf8", 0, filled);
}
