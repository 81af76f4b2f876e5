import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { nameOf, parentOf, toPathSegments } from "../../../src/contracts/storage-path.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";

/** A storage in memory that keeps the case of names and ignores it, as disks of Windows and macOS do. */
export function createIgnoringCase(): StorageAdapter {
  const inner = createMemoryStorage();

  /** The path as it is stored, as far as there is something. */
  async function find(path: string): Promise<string> {
    let found = "";
    for (const name of toPathSegments(path)) found += `/${await findName(found || "/", name)}`;
    return found || "/";
  }

  async function findName(folder: string, name: string): Promise<string> {
    if ((await inner.stat(folder))?.kind !== "folder") return name;
    for await (const entry of inner.list(folder)) {
      if (entry.name.toLowerCase() === name.toLowerCase()) return entry.name;
    }
    return name;
  }

  const move: StorageAdapter["move"] = async (from, to, options) => {
    const [source, target] = [await find(from), await find(to)];
    if (source !== target) return inner.move(source, target, options);
    const kind = (await inner.stat(source))?.kind === "folder" ? "folder" : "file";
    await inner.move(source, `${source} aside`, { ...options, kind });
    return inner.move(`${source} aside`, `${parentOf(target)}/${nameOf(to)}`.replace("//", "/"), { kind });
  };

  return {
    stat: async (path) => inner.stat(await find(path)),
    async *list(path, options) {
      yield* inner.list(await find(path), options);
    },
    read: async (path, range) => inner.read(await find(path), range),
    write: async (path, content, options) => inner.write(await find(path), content, options),
    createFolder: async (path, options) => inner.createFolder(await find(path), options),
    remove: async (path, options) => inner.remove(await find(path), options),
    copy: async (from, to, options) => inner.copy(await find(from), await find(to), options),
    move,
  };
}
