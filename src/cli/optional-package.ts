import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package with the real names of its parents, such as that of a version in `/opt`. */
export const PACKAGE_FOLDER = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/**
 * Why an optional package cannot be used, with what to do; `undefined` if it is installed. `need` says what it is for
 * and what installs it. Rejects with any other error of the package.
 */
export async function findMissingPackage(load: () => Promise<unknown>, need: string): Promise<string | undefined> {
  try {
    await load();
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    return /[\\/]node_modules$/.test(dirname(PACKAGE_FOLDER))
      ? `${need}, next to fileferry in ${dirname(PACKAGE_FOLDER)}`
      : need;
  }
}
