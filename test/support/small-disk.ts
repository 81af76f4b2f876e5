import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";

/** How much a disk takes. */
export interface SmallDiskOptions {
  /** As `mount` has it. Default: `1m`. */
  readonly size?: string;
  /** Files and folders, the disk's own one among them. Default: as many as have room. */
  readonly inodes?: number;
}

/** Mounts a disk of 1 MiB, or of the given size. Returns `undefined` if none can be mounted. */
export function mountSmallDisk({ size = "1m", inodes }: SmallDiskOptions = {}): string | undefined {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return undefined;
  const folder = execFileSync("mktemp", ["-d", join(tmpdir(), "fileferry-full-XXXXXX")], { encoding: "utf8" }).trim();
  const options = inodes === undefined ? `size=${size}` : `size=${size},nr_inodes=${inodes}`;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "none", folder], { stdio: "ignore" });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

/** Makes a mounted disk read-only, or writable again. */
export function remount(folder: string, mode: "ro" | "rw"): void {
  execFileSync("mount", ["-o", `remount,${mode}`, folder]);
}

/** Waits for what is being closed on the disk. */
export async function unmount(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  await vi.waitFor(() => execFileSync("umount", [folder], { stdio: "pipe" }), 5000);
  rmSync(folder, { recursive: true });
}
