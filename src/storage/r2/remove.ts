import type { CopiedObjects } from "../object-store/copied-objects.ts";
import { isKey, type ObjectLocation, toPropertiesKey } from "../object-store/keys.ts";
import type { R2Bucket, R2Condition } from "./binding.ts";
import { listR2Objects } from "./pages.ts";
import { mapR2Errors } from "./write.ts";

const MARKER = new Uint8Array();

/** Removes files and folders that were found before. */
export interface R2Remover {
  removeFile(location: ObjectLocation): Promise<void>;
  removeFolder(location: ObjectLocation): Promise<void>;
  /** Removes the objects of a folder that were copied and, if no others are left, its properties. */
  removeCopied(location: ObjectLocation, copied: CopiedObjects): Promise<void>;
  /** Removes the properties of what is, or was, at a location. */
  removeProperties(location: ObjectLocation): Promise<void>;
}

/** Creates the marker of a folder. Returns `false` if it already exists. */
export async function putR2Marker(bucket: R2Bucket, folder: string): Promise<boolean> {
  const onlyIf: R2Condition = { etagDoesNotMatch: "*" };
  return (await mapR2Errors(() => bucket.put(folder, MARKER, { onlyIf }))) !== null;
}

/** Creates the remover of one storage. */
export function createR2Remover(bucket: R2Bucket, prefix: string): R2Remover {
  async function removeFile(location: ObjectLocation): Promise<void> {
    await keepParent(location);
    await removeKeys([location.key]);
    await removeLeftProperties(location);
  }

  async function removeFolder(location: ObjectLocation): Promise<void> {
    await keepParent(location);
    for (;;) {
      const { objects, truncated } = await mapR2Errors(() => bucket.list({ prefix: location.folder, limit: 1000 }));
      await removeKeys(objects.map(({ key }) => key));
      if (!truncated) break;
    }
    await removeLeftProperties(location);
  }

  async function removeCopied(location: ObjectLocation, copied: CopiedObjects): Promise<void> {
    await keepParent(location);
    for await (const page of listR2Objects(bucket, location.folder)) await removeKeys(await copied.select(page));
    if (!copied.hasRemaining()) await removeLeftProperties(location);
  }

  async function removeProperties(location: ObjectLocation): Promise<void> {
    const key = toPropertiesKey(location);
    if (isKey(key)) await removeKeys([key]);
  }

  /** Removes the properties of a member that is gone. Its removal has succeeded, so errors are ignored. */
  async function removeLeftProperties(location: ObjectLocation): Promise<void> {
    await removeProperties(location).catch(() => undefined);
  }

  /** Removes at most 1,000 objects. Those that do not exist are not an error. */
  async function removeKeys(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await mapR2Errors(() => bucket.delete([...keys]));
  }

  /**
   * Gives a marker to a parent folder that other tools created without one, because its last member may be removed
   * next. It looks for a marker first, since R2 allows one write per second and key. Of many parallel writers that see
   * no marker, one may fail although another has created it.
   */
  async function keepParent({ parent = prefix }: ObjectLocation): Promise<void> {
    const hasMarker = async (): Promise<boolean> => (await mapR2Errors(() => bucket.head(parent))) !== null;
    if (parent === prefix || (await hasMarker())) return;
    try {
      await putR2Marker(bucket, parent);
    } catch (error) {
      if (!(await hasMarker())) throw error;
    }
  }

  return { removeFile, removeFolder, removeCopied, removeProperties };
}
