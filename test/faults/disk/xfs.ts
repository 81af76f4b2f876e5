import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An XFS file system in a file, whose files can share blocks. */
export interface XfsDisk {
  /** Where it is mounted; `undefined` if it cannot be tested here. */
  readonly root: string | undefined;
  /** What a test's name says if it cannot. */
  readonly reason: string;
  remove(): void;
}

/** Makes an XFS file system and mounts it, where this is permitted: containers often do not permit it. */
export function mountXfs(): XfsDisk {
  const folder = mkdtempSync(join(tmpdir(), "fileferry-xfs-"));
  const [image, root] = [join(folder, "image"), join(folder, "root")];
  writeFileSync(image, "");
  truncateSync(image, 320 * 1024 * 1024);
  mkdirSync(root);
  const made = spawnSync("mkfs.xfs", ["-q", image]);
  const isMounted = made.status === 0 && spawnSync("mount", ["-o", "loop", image, root]).status === 0;
  if (isMounted) {
    const remove = () => {
      if (spawnSync("umount", [root]).status !== 0) spawnSync("umount", ["-l", root]);
      rmSync(folder, { recursive: true });
    };
    return { root, reason: "", remove };
  }
  rmSync(folder, { recursive: true });
  const reason = made.status === 0 ? "mounting is not permitted" : "mkfs.xfs is not installed";
  process.stderr.write(`Not tested: ${reason}\n`);
  return { root: undefined, reason: ` (${reason})`, remove: () => undefined };
}
