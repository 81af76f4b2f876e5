import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system in a file. */
export interface DiskImage {
  /** Where it is mounted; `undefined` if it cannot be tested here. */
  readonly root: string | undefined;
  /** What a test's name says if it cannot. */
  readonly reason: string;
  remove(): void;
}

type Command = readonly [name: string, ...options: string[]];

/** Mounts an XFS, whose files can share blocks. */
export function mountXfs(): DiskImage {
  return mountImage(320, ["mkfs.xfs", "-q"], ["mount", "-o", "loop"]);
}

/** Mounts an NTFS that ignores the case of names. */
export function mountIgnoringCase(): DiskImage {
  return mountImage(16, ["mkfs.ntfs", "-q", "-F"], ["lowntfs-3g", "-o", "ignore_case"]);
}

/** Makes a file system and mounts it, where this is permitted: containers often do not permit it. */
function mountImage(megabytes: number, make: Command, mount: Command): DiskImage {
  const folder = mkdtempSync(join(tmpdir(), "fileferry-image-"));
  const [image, root] = [join(folder, "image"), join(folder, "root")];
  writeFileSync(image, "");
  truncateSync(image, megabytes * 1024 * 1024);
  mkdirSync(root);
  const isMade = run(make, image);
  if (isMade && run(mount, image, root)) {
    const remove = () => {
      if (!run(["umount"], root)) run(["umount", "-l"], root);
      rmSync(folder, { recursive: true });
    };
    return { root, reason: "", remove };
  }
  rmSync(folder, { recursive: true });
  const reason = isMade ? "mounting is not permitted" : `${make[0]} is not installed`;
  process.stderr.write(`Not tested: ${reason}\n`);
  return { root: undefined, reason: ` (${reason})`, remove: () => undefined };
}

function run([name, ...options]: Command, ...more: readonly string[]): boolean {
  return spawnSync(name, [...options, ...more]).status === 0;
}
