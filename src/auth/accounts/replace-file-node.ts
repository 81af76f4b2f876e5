import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, open, readdir, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAbandoned, processIdentity } from "../../platform/process-identity-node.ts";

/** Older temporary files were left by a crash, on this or another machine: writing one never takes that long. */
const LEFTOVER_MILLISECONDS = 60_000;
/** The unique part of a temporary file's name: identity of the process and random digits. */
const UNIQUE_PART = /^([0-9a-f]{8}-[0-9]+-[0-9]*)-[0-9a-f]{16}$/;

const PERMISSION_BITS = 0o777;
const GROUP_BITS = 0o070;

/**
 * Replaces the content of an existing file. Readers, also after a crash, see either the previous or the new content,
 * never a part of it. If the file is a symlink, its target is replaced.
 *
 * The file keeps its permissions, and its owner and group if the process may set them. If it cannot set the group, the
 * new file gets no group permissions. When the promise resolves, the new content is on the disk; when it rejects, the
 * previous content is still there.
 */
export async function replaceFile(file: string, content: string): Promise<void> {
  const target = await realpath(file);
  const previous = await stat(target);
  await removeTemporaryFiles(target);
  const unique = `${processIdentity()}-${randomBytes(8).toString("hex")}`;
  const temporary = join(dirname(target), toTemporaryName(target, unique));
  try {
    await writeContent(await open(temporary, "wx", 0o600), content, previous);
    await rename(temporary, target);
  } catch (error) {
    // Needed even if `open` failed: on a network file system the file may exist all the same.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  // The new content is already in effect, and its bytes are on the disk, so a failing sync of the folder is no failure.
  await syncFolder(dirname(target)).catch(() => undefined);
}

async function writeContent(
  handle: FileHandle,
  content: string,
  { uid, gid, mode }: { readonly uid: number; readonly gid: number; readonly mode: number },
): Promise<void> {
  try {
    const created = await handle.stat();
    const isForeign = created.uid !== uid || created.gid !== gid;
    // A process without the right to change a file's owner can still set a group that it is a member of.
    if (isForeign) await handle.chown(uid, gid).catch(() => handle.chown(created.uid, gid).catch(() => undefined));
    // The permissions of the previous group must not go to another group.
    const { gid: group } = await handle.stat();
    await handle.chmod(mode & (group === gid ? PERMISSION_BITS : PERMISSION_BITS & ~GROUP_BITS));
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts a rename on the disk by syncing its folder. Windows cannot open folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Removes temporary files that crashed replacements of the file have left: those of processes of this machine that
 * have ended, and old ones. Never rejects.
 */
export async function removeLeftovers(file: string): Promise<void> {
  await realpath(file).then(removeTemporaryFiles, () => undefined);
}

async function removeTemporaryFiles(target: string): Promise<void> {
  const [head = "", tail = ""] = toTemporaryName(target, "\0").split("\0");
  const folder = dirname(target);
  // The process may be able to write to the folder but not to read it: that is no failure.
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(head) || !name.endsWith(tail)) continue;
    const [, creator] = UNIQUE_PART.exec(name.slice(head.length, -tail.length)) ?? [];
    if (creator === undefined) continue;
    const path = join(folder, name);
    const modified = await lstat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    const isOld = Date.now() - modified > LEFTOVER_MILLISECONDS;
    const isLeftover = isOld || (await isAbandoned(creator, modified, LEFTOVER_MILLISECONDS));
    // Another process may have removed it already.
    if (isLeftover) await unlink(path).catch(() => undefined);
  }
}

function toTemporaryName(target: string, unique: string): string {
  return `.${basename(target)}.${unique}.tmp`;
}
