// Links the `fileferry` of this repository into `node_modules`, so that the examples can import it by name.

import { mkdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const target = resolve(folder, "../..");
const link = resolve(folder, "node_modules/fileferry");

if (!(await isRight())) {
  await mkdir(dirname(link), { recursive: true });
  await rm(link, { recursive: true, force: true });
  await symlink(target, link, "junction").catch(async (error) => {
    // Somebody else may have been quicker.
    if (!(await isRight())) throw error;
  });
}

/** Not a link to another copy of the repository, nor a package that was installed. */
async function isRight() {
  const found = await readlink(link).catch(() => undefined);
  return found !== undefined && resolve(dirname(link), found) === target;
}
