import { toBatches } from "../../contracts/member-batches.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import type { AccountContext } from "../../request/context.ts";
import { toUploadHolder } from "../../transfers/uploads/limits.ts";
import { type FoundMember, toPageMember } from "../../views/member-order.ts";
import { acquirePageBytes, toMemberBytes } from "./page-memory.ts";
import { isOfFolderAlone } from "./unlisted-folder.ts";

/** A search that is going on. */
export interface SearchWalk {
  /** What is found, the nearest first. A batch may be empty. */
  readonly batches: AsyncGenerator<readonly FoundMember[], void>;
  /** Whether a limit has ended it before it had looked at everything. */
  isTruncated(): boolean;
}

/**
 * Walks everything below a folder that its account may list, as archives do: in turns with those of other accounts. A
 * folder that may not be listed, or was removed meanwhile, is left out. Memory holds the paths of the folders that are
 * still to be read, which count as a page does. `matches` gets names.
 * @throws HttpError `unavailable` if there is no memory for a page
 */
export function walkForSearch(
  context: AccountContext,
  matches: (name: string) => boolean,
  signal: AbortSignal,
): SearchWalk {
  const { files, path, config, walks, pagePermit } = context;
  const { searchResults, searchMembers, searchSeconds } = config.limits;
  // Only a permit that is taken before the reply is released after it.
  let bytes = toMemberBytes([{ name: "" }]);
  acquirePageBytes(pagePermit, bytes);
  const turn = walks.start(toUploadHolder(context), signal);
  const end = performance.now() + 1000 * searchSeconds;
  /** The paths of folders that are still to be read. */
  const waiting: string[] = [];
  let isTruncated = false;
  let results = 0;
  let members = 0;

  /** Steps through a folder, and lets other walks go on between the steps. */
  async function* listBelow(folder: string): AsyncGenerator<readonly StorageEntry[], void> {
    const segments = folder === "" ? path.segments : [...path.segments, ...folder.split("/")];
    await turn.next();
    try {
      for await (const batch of toBatches(files.list(segments, undefined, "long"))) {
        yield batch;
        await turn.next();
      }
    } catch (error) {
      if (!isOfFolderAlone(error, context)) throw error;
    }
  }

  /** Looks at a member, and adds it to what is found. Returns false if a limit leaves no room for it. */
  function look(member: StorageEntry, folder: string, found: FoundMember[]): boolean {
    if (members === searchMembers) return false;
    members += 1;
    const own = folder === "" ? member.name : `${folder}/${member.name}`;
    if (matches(member.name)) {
      if (results === searchResults) return false;
      results += 1;
      found.push({ ...toPageMember(member), path: own });
    }
    if (member.kind === "folder") {
      bytes += toMemberBytes([{ name: own }]);
      waiting.push(own);
    }
    return true;
  }

  /** Without memory for the folders that are left, the search ends with what it has. */
  function hasMemory(): boolean {
    return waiting.length === 0 || pagePermit.acquire(bytes);
  }

  /** The folders that are to be read, one level after the other. */
  function* toRead(): Generator<string, void> {
    for (let level = [""]; level.length > 0; level = waiting.splice(0)) yield* level;
  }

  async function* walk(): AsyncGenerator<readonly FoundMember[], void> {
    try {
      for (const folder of toRead()) {
        // Folders without members have no batch to look at the time after.
        isTruncated = performance.now() > end;
        if (isTruncated) return;
        for await (const batch of listBelow(folder)) {
          const found: FoundMember[] = [];
          const isComplete = batch.every((member) => look(member, folder, found)) && hasMemory();
          isTruncated = !isComplete || performance.now() > end;
          yield found;
          if (isTruncated) return;
        }
      }
    } finally {
      turn.end();
    }
  }

  return { batches: walk(), isTruncated: () => isTruncated };
}
