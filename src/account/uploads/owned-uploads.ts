import type { DiscardedUpload, StorageUploads } from "../../contracts/storage-uploads.ts";
import { type AccountUpload, parseUploadOwner } from "./account-uploads.ts";
import { parseNote } from "./upload-note.ts";

/** An upload, and the name of the account that it, or its link, belongs to. */
export interface OwnedUpload extends AccountUpload {
  readonly account: string;
}

/** The uploads of all accounts, for what no request causes. */
export interface OwnedUploads {
  /** Lost uploads, too. */
  list(): AsyncIterable<OwnedUpload>;
  /** As `StorageUploads.discard`: of several callers exactly one gets a result. */
  discard(upload: OwnedUpload): Promise<DiscardedUpload | undefined>;
}

/** Creates the list of all uploads of a storage that belong to accounts, or to links of accounts. */
export function createOwnedUploads(uploads: StorageUploads): OwnedUploads {
  async function* list(): AsyncGenerator<OwnedUpload> {
    for await (const state of uploads.list()) {
      const { owner, id } = state.key;
      const note = parseNote(state.note);
      const account =
        parseUploadOwner(owner) ?? (owner === `link:${note?.link?.id}` ? note?.link?.username : undefined);
      if (account !== undefined && note !== undefined) yield { account, id, state, note };
    }
  }

  return { list, discard: ({ state }) => uploads.discard(state.key) };
}
