import type { StorageAdapter, StoredFile } from "../../src/contracts/storage-adapter.ts";
import { textChunks } from "../../src/testing/storage/content.ts";
import type { Node } from "./model.ts";

/** What is there at first: each home has the same, as has the shared folder. */
const FIRST = ["/d", "/d/d", "/a", "/b", "/d/a", "/d/b", "/d/d/a"] as const;

/** Fills an area with what is there at first. */
export async function fill(storage: StorageAdapter, area: string): Promise<void> {
  await storage.createFolder(area);
  for (const path of FIRST) {
    if (path.endsWith("d")) await storage.createFolder(`${area}${path}`);
    else await storage.write(`${area}${path}`, textChunks(`the first ${area}${path}`));
  }
}

/** All that is stored. */
export async function walk(storage: StorageAdapter): Promise<ReadonlyMap<string, Node>> {
  const found = new Map<string, Node>();
  const waiting = ["/"];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for await (const { name, kind } of storage.list(folder)) {
      const path = folder === "/" ? `/${name}` : `${folder}/${name}`;
      if (kind === "folder") {
        waiting.push(path);
        found.set(path, { kind });
      } else {
        const file = await storage.read(path);
        const { entry } = file;
        found.set(path, {
          kind: "file",
          version: entry.etag ?? "",
          text: await readWhole(file),
          etag: entry.etag,
        });
      }
    }
  }
  return found;
}

async function readWhole(file: StoredFile): Promise<string> {
  const { source, entry } = file;
  if (source === undefined) return new Response(file.body).text();
  if ("byteLength" in source) return Buffer.from(source).toString();
  const bytes = Buffer.alloc(entry.size + 1);
  let count = 0;
  for (let read = -1; read !== 0; count += read) read = await source.readInto(bytes.subarray(count));
  await source.close();
  return bytes.subarray(0, count).toString();
}
