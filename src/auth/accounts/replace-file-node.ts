import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, open, readdir, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasEnded, hostIdentity } from "../../platform/process-identity-node.ts";

/** Temporary files older than this are what a crash has left, on whatever machine: none is written for so long. */
const LEFTOVER_MILLISECONDS = 60_000;
/** What a temporary name has in the middle: host, process, and what makes it unique. */
const MIDDLE = /^([0-9a-f]{8})-([0-9]+)-[0-9a-f]{16}$/;

const PERMISSION_BITS = 0o777;
const GROUP_BITS = 0o070;

/**
 * Replaces the content of a file that is there: readers see the former content or the new one, never less, and after a crash one of the
 * two is there. The file keeps its owner and group where the process may give them, and its permissions, without those of the group
 * where that is another one now; a link stays one, its target is
 * replaced. When it resolves the new content is on the disk; whatever makes it reject leaves the former.
 */
export async function replaceFile(file: string, content: string): Promise<void> {
  const target = await realpath(file);
  const previous = await stat(target);
  await sweep(target);
  const middle = `${hostIdentity()}-${process.pid}-${randomBytes(8).toString("hex")}`;
  const temporary = join(dirname(target), toTemporaryName(target, middle));
  try {
    await fill(await open(temporary, "wx", 0o600), content, previous);
    await rename(temporary, target);
  } catch (error) {
    // Also where opening failed: a file of the network may have been made all the same.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  // The new content counts already, and is on the disk itself: a folder that cannot be synced does not undo that.
  await syncFolder(dirname(target)).catch(() => undefined);
}

async function fill(
  handle: FileHandle,
  content: string,
  { uid, gid, mode }: { readonly uid: number; readonly gid: number; readonly mode: number },
): Promise<void> {
  try {
    const made = await handle.stat();
    const isForeign = made.uid !== uid || made.gid !== gid;
    // Without the right to give files away the new one is the process's own, but perhaps of a group that the process is in.
    if (isForeign) await handle.chown(uid, gid).catch(() => handle.chown(made.uid, gid).catch(() => undefined));
    // What the former group may do, another group may not.
    const { gid: group } = await handle.stat();
    await handle.chmod(mode & (group === gid ? PERMISSION_BITS : PERMISSION_BITS & ~GROUP_BITS));
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The rename is on the disk when its folder is; Windows opens none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what a crash has left of the file's replacements: all of what ended processes of this machine have. Never rejects. */
export async function sweepLeftovers(file: string): Promise<void> {
  await realpath(file).then(sweep, () => undefined);
}

async function sweep(target: string): Promise<void> {
  const [head = "", tail = ""] = toTemporaryName(target, "\0").split("\0");
  const folder = dirname(target);
  // A folder that may be written and not read is nothing to fail at.
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(head) || !name.endsWith(tail)) continue;
    const [middle, tag = "", writer] = MIDDLE.exec(name.slice(head.length, -tail.length)) ?? [];
    if (middle === undefined) continue;
    const path = join(folder, name);
    const modified = await lstat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    const isLeft = Date.now() - modified > LEFTOVER_MILLISECONDS || hasEnded(tag, Number(writer), modified);
    // Another process may be faster.
    if (isLeft) await unlink(path).catch(() => undefined);
  }
}

function toTemporaryName(target: string, unique: string): string {
  return `.${basename(target)}.${unique}.tmp`;
}
