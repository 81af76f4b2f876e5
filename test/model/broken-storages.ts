import type { StorageAdapter, WriteOptions } from "../../src/contracts/storage-adapter.ts";
import { readFileText, textChunks } from "../../src/testing/storage/content.ts";
import { overrideStorage } from "../support/storage.ts";

/** A storage with a defect, such as the model has to find. */
type Wrap = (inner: StorageAdapter) => StorageAdapter;

/** Whether it is the turn of the defect: each `of`th time. */
function createTurn(of: number): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count % of === 0;
  };
}

async function toText(content: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of content) text += new TextDecoder().decode(chunk);
  return text;
}

/** Takes a file, and does not keep it. */
function losingWrites(inner: StorageAdapter): StorageAdapter {
  const isTurn = createTurn(4);
  return overrideStorage(inner, {
    async write(path, content, options) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const isThere = (await inner.stat(path))?.kind === "file";
      if (!isThere || !isTurn()) return inner.write(path, content, options);
      const { byteLength: size } = Buffer.from(await toText(content));
      return { name, kind: "file", size, modified: new Date(), etag: '"lost"' };
    },
  });
}

/** Gives the file that was there before, now and then. */
function servingFormer(inner: StorageAdapter): StorageAdapter {
  const isTurn = createTurn(3);
  const former = new Map<string, string>();
  return overrideStorage(inner, {
    async write(path, content, options) {
      const isThere = (await inner.stat(path))?.kind === "file";
      const text = isThere ? await readFileText(inner, path) : undefined;
      const entry = await inner.write(path, content, options);
      if (text !== undefined) former.set(path, text);
      return entry;
    },
    async read(path, range) {
      const file = await inner.read(path, range);
      const text = former.get(path);
      if (text === undefined || range !== undefined || !isTurn()) return file;
      const bytes = Buffer.from(text);
      return {
        ...file,
        entry: { ...file.entry, size: bytes.byteLength },
        body: new Blob([bytes]).stream(),
        source: bytes,
      };
    },
  });
}

/** Keeps what came before the content broke off, as if that were all. */
function keepingHalves(inner: StorageAdapter): StorageAdapter {
  async function* upToFailure(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* content;
    } catch {
      // What was taken is kept.
    }
  }
  return overrideStorage(inner, {
    write: (path, content, { size: _size, signal: _signal, ...options } = {}) =>
      inner.write(path, upToFailure(content), options),
  });
}

/** Judges conditions when a write begins, and never again. */
function judgingOnce(inner: StorageAdapter): StorageAdapter {
  return overrideStorage(inner, {
    async write(path, content, { ifMatch, ifNoneMatch, ...options } = {}) {
      const conditions: WriteOptions = {
        ...(ifMatch !== undefined && { ifMatch }),
        ...(ifNoneMatch !== undefined && { ifNoneMatch }),
      };
      if (ifMatch === undefined && ifNoneMatch === undefined) return inner.write(path, content, options);
      // All that a storage checks in front of the first chunk.
      const stop = new Error("met");
      async function* nothing(): AsyncGenerator<Uint8Array> {
        yield* [];
        throw stop;
      }
      await inner.write(path, nothing(), conditions).catch((error: unknown) => {
        if (error !== stop) throw error;
      });
      return inner.write(path, content, options);
    },
  });
}

/** Leaves something behind of a write that failed. */
function leavingResidue(inner: StorageAdapter): StorageAdapter {
  return overrideStorage(inner, {
    write: (path, content, options) =>
      inner.write(path, content, options).catch(async (error: unknown) => {
        await inner.write(`${path}.tmp`, textChunks("left")).catch(() => undefined);
        throw error;
      }),
  });
}

function forgettingRemovals(inner: StorageAdapter): StorageAdapter {
  const isTurn = createTurn(3);
  return overrideStorage(inner, {
    async remove(path, options) {
      if (!isTurn()) await inner.remove(path, options);
    },
  });
}

function removingTooMuch(inner: StorageAdapter): StorageAdapter {
  return overrideStorage(inner, {
    async remove(path, options) {
      await inner.remove(path, options);
      const neighbour = path.endsWith("a") ? `${path.slice(0, -1)}b` : undefined;
      if (neighbour !== undefined) await inner.remove(neighbour).catch(() => undefined);
    },
  });
}

function hidingMembers(inner: StorageAdapter): StorageAdapter {
  return overrideStorage(inner, {
    async *list(path) {
      for await (const member of inner.list(path)) if (member.name !== "b") yield member;
    },
  });
}

/** Reads in the home of another. */
function mixingHomes(inner: StorageAdapter): StorageAdapter {
  return overrideStorage(inner, { read: (path, range) => inner.read(path.replace(/^\/bob\//, "/alice/"), range) });
}

/** Answers by what there was some steps ago. */
function statingLate(inner: StorageAdapter): StorageAdapter {
  const known = new Map<string, Awaited<ReturnType<StorageAdapter["stat"]>>>();
  return overrideStorage(inner, {
    async stat(path) {
      const isKnown = known.has(path);
      const former = known.get(path);
      known.set(path, await inner.stat(path));
      return isKnown ? former : known.get(path);
    },
  });
}

/** Defects by their names. */
export const BROKEN_STORAGES: Readonly<Record<string, Wrap>> = {
  "loses a file that it has acknowledged": losingWrites,
  "serves a former file": servingFormer,
  "keeps half a file": keepingHalves,
  "judges conditions when a write begins, and never again": judgingOnce,
  "does not know If-Match": (inner) =>
    overrideStorage(inner, {
      write: (path, content, { ifMatch: _, ...options } = {}) => inner.write(path, content, options),
      remove: (path, { ifMatch: _, ...options } = {}) => inner.remove(path, options),
    }),
  "leaves something behind": leavingResidue,
  "forgets to remove": forgettingRemovals,
  "removes a neighbour as well": removingTooMuch,
  "lists a member less": hidingMembers,
  "serves the file of another account": mixingHomes,
  "tells what was there before": statingLate,
  "reads the whole file for a part": (inner) => overrideStorage(inner, { read: (path) => inner.read(path) }),
  "has one entity-tag for all files": (inner) =>
    overrideStorage(inner, {
      async write(path, content, options) {
        return { ...(await inner.write(path, content, options)), etag: '"same"' };
      },
    }),
};
