import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import type { AttributeChanges, Properties, StorageAttributes } from "../../contracts/storage-attributes.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import { changeProperties } from "../properties.ts";
import type { File, Folder, MemoryTree } from "./tree.ts";

/** Creates the attributes of a memory storage: it keeps all of them. */
export function createMemoryAttributes(
  tree: MemoryTree,
  toEntry: (name: string, found: File | Folder) => StorageEntry,
): StorageAttributes {
  function find(segments: readonly string[]): File | Folder {
    const found = tree.find(segments);
    if (found === undefined) throw new StorageError("not-found");
    return found;
  }

  async function properties(path: string): Promise<Properties> {
    return find(toPathSegments(path)).properties;
  }

  async function change(path: string, { modified, properties: wanted }: AttributeChanges): Promise<StorageEntry> {
    const segments = toPathSegments(path);
    const found = find(segments);
    const changed = {
      modified: modified ?? found.modified,
      properties: wanted ? changeProperties(found.properties, wanted) : found.properties,
    };
    const member = found.kind === "folder" ? Object.assign(found, changed) : { ...found, ...changed };
    if (segments.length === 0) return toEntry("", member);
    const location = tree.locate(segments);
    location.parent.members.set(location.name, member);
    tree.noteChange(location);
    return toEntry(location.name, member);
  }

  return { properties, change };
}
