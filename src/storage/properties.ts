import { StorageError } from "../contracts/storage-adapter.ts";
import type { AttributeChanges, Properties } from "../contracts/storage-attributes.ts";

/** For one file or folder. */
const MAX_PROPERTIES = 100;
/** Names and values of one file or folder, in UTF-8. */
const MAX_BYTES = 65_536;

/** The properties of a file or folder that has none. */
export const NO_PROPERTIES: Properties = new Map();

/**
 * Returns the properties after changes.
 * @throws StorageError `no-space` if they are too many or too long.
 */
export function changeProperties(
  current: Properties,
  changes: NonNullable<AttributeChanges["properties"]>,
): Properties {
  const changed = new Map(current);
  for (const [name, value] of changes) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  }
  if (changed.size > MAX_PROPERTIES) throw new StorageError("no-space", `More than ${MAX_PROPERTIES} properties.`);
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const text of [...changed].flat()) bytes += encoder.encode(text).byteLength;
  if (bytes > MAX_BYTES) throw new StorageError("no-space", `Properties of more than ${MAX_BYTES} bytes.`);
  return changed;
}
