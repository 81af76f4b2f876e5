// Lets the examples import the `fileferry` of this repository by its name.

import { mkdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const target = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Links it into `node_modules` of the folder of a module. */
export async function linkPackage(moduleUrl) {
  const link = fileURLToPath(new URL("node_modules/fileferry", moduleUrl));
  if (await isRight(link)) return;
  await mkdir(dirname(link), { recursive: true });
  await rm(link, { recursive: true, force: true });
  await symlink(target, link, "junction").catch(async (error) => {
    // Another process may have been faster.
    if (!(await isRight(link))) throw error;
  });
}

/** Not a link to another copy of the repository, nor a package that was installed. */
async function isRight(link) {
  const found = await readlink(link).catch(() => undefined);
  return found !== undefined && resolve(dirname(link), found) === target;
}
