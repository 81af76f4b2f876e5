import { compareNames } from "../../contracts/member-names.ts";
import { inParallel } from "../../platform/in-parallel.ts";

/** An object in a listing. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
  /** Entity-tag with quotes. */
  readonly etag: string;
}

/** Finds the objects of a folder that were copied, and are still as they were then. */
export interface CopiedObjects {
  /** Returns the keys of a page that may be removed. The pages are in the order of their keys. */
  select(page: readonly ListedObject[]): Promise<readonly string[]>;
  /** Whether objects were left out, since they were created or changed after they had been copied. */
  hasRemaining(): boolean;
}

/** What {@link createCopiedObjects} compares. */
export interface CopiedObjectsInput {
  /** The prefix of the sources. */
  readonly from: string;
  /** The prefix of the copies. */
  readonly to: string;
  /** The pages of the copies, in the order of their keys. */
  readonly copies: AsyncIterable<readonly ListedObject[]>;
  /** Whether an object with another entity-tag is a copy of this version. A store may give copies other tags. */
  isCopy(source: ListedObject, copy: ListedObject): Promise<boolean>;
  readonly parallel: number;
}

/**
 * Creates the selection of a move, or of a copy that is taken back: then its sources and copies are exchanged. It reads
 * the copies in step with the sources, and holds one page of each.
 */
export function createCopiedObjects({ from, to, copies, isCopy, parallel }: CopiedObjectsInput): CopiedObjects {
  const next = createKeySearch(copies, to);
  let areSomeLeft = false;

  async function select(page: readonly ListedObject[]): Promise<readonly string[]> {
    const keys: string[] = [];
    const doubtful: { readonly source: ListedObject; readonly copy: ListedObject }[] = [];
    for (const source of page) {
      const rest = source.key.slice(from.length);
      const copy = await next(rest);
      // The marker of the folder was not copied but created. The other folder may have none.
      const isSame = copy?.etag === source.etag && copy.size === source.size;
      if (rest === "" || isSame) keys.push(source.key);
      else if (copy?.size === source.size) doubtful.push({ source, copy });
      else areSomeLeft = true;
    }
    await inParallel(doubtful, { most: parallel }, async ({ source, copy }) => {
      if (await isCopy(source, copy)) keys.push(source.key);
      else areSomeLeft = true;
    });
    return keys;
  }

  return { select, hasRemaining: () => areSomeLeft };
}

/** Creates a function that finds objects by their keys without a prefix. It is called in the order of the keys. */
function createKeySearch(
  pages: AsyncIterable<readonly ListedObject[]>,
  prefix: string,
): (rest: string) => Promise<ListedObject | undefined> {
  const objects = toObjects(pages);
  let current: IteratorResult<ListedObject, void> | undefined;

  return async (rest) => {
    current ??= await objects.next();
    while (current.done !== true && compareNames(current.value.key.slice(prefix.length), rest) < 0) {
      current = await objects.next();
    }
    return current.done !== true && current.value.key === prefix + rest ? current.value : undefined;
  };
}

async function* toObjects(pages: AsyncIterable<readonly ListedObject[]>): AsyncGenerator<ListedObject, void> {
  for await (const page of pages) yield* page;
}
