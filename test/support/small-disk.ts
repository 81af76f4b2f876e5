import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A disk of 1 MiB; `undefined` where none can be mounted. */
export function mountSmallDisk(): string | undefined {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return undefined;
  const folder = execFileSync("mktemp", ["-d", join(tmpdir(), "fileferry-full-XXXXXX")], { encoding: "utf8" }).trim();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", folder], { stdio: "ignore" });
    return folder;
  } catch {
    return undefined;
  }
}

export function unmount(folder: string | undefined): void {
  if (folder === undefined) return;
  execFileSync("umount", [folder]);
  rmSync(folder, { recursive: true });
}
