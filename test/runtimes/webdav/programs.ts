import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** Whether something can be tested here, and what a test's name says if it cannot. */
interface Found {
  readonly missing: boolean;
  readonly reason: string;
}

export function findProgram(name: string): Found {
  if ((process.env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, name)))) {
    return { missing: false, reason: "" };
  }
  return tellAbsent(name);
}

function tellAbsent(name: string): Found {
  const reason = `${name} is not installed`;
  if (process.env.CI) throw new Error(reason);
  return tellMissing(reason);
}

/** gvfs, whose commands need a bus, and which has a program of its own for WebDAV. */
export function findGvfs(): Found {
  const missing = ["gio", "dbus-run-session"].map(findProgram).find((found) => found.missing);
  if (missing !== undefined) return missing;
  const folders = ["/usr/libexec", "/usr/lib/gvfs"];
  return folders.some((folder) => isExecutable(join(folder, "gvfsd-dav")))
    ? { missing: false, reason: "" }
    : tellAbsent("gvfs-backends");
}

/** davfs2, if this machine permits mounting: containers often do not, those of continuous integration among them. */
export function findMount(): Found {
  const found = findProgram("mount.davfs");
  return found.missing || canMount() ? found : tellMissing("mounting is not permitted");
}

function tellMissing(reason: string): Found {
  process.stderr.write(`Not tested: ${reason}\n`);
  return { missing: true, reason: ` (${reason})` };
}

function canMount(): boolean {
  if (!existsSync("/dev/fuse")) return false;
  const folder = mkdtempSync(join(tmpdir(), "fileferry-mount-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "none", folder]).status === 0;
  if (isMounted) spawnSync("umount", [folder]);
  rmdirSync(folder);
  return isMounted;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
