import type { Operation } from "../../contracts/account.ts";
import { foldName } from "../../contracts/account-name.ts";
import { type EntityTags, hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import type { StorageUploads, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import { createError } from "../../http/errors.ts";
import { createTooLargeError } from "../../http/uploads/length.ts";
import { randomHex } from "../../platform/random-hex.ts";
import type { Account } from "../account.ts";
import { limitContent } from "../file-size-limit.ts";
import { isReserved, toStoragePath } from "../path.ts";
import type { AccountUpload, AccountUploads, AppendUploadOptions, NewUpload } from "./account-uploads.ts";
import { parseNote, toKeptPath, toNoteText, type UploadNote } from "./upload-note.ts";

/** What the uploads of an account need of its files. */
export interface AccountUploadsOptions {
  readonly account: Account;
  /** The owner in the keys of the uploads. */
  readonly owner: string;
  /** The ID of an API key that sees only its own uploads. Absent: all of the owner are seen. */
  readonly apiKey?: string | undefined;
  /** The uploads of the whole storage. */
  readonly storage: StorageUploads;
  /** The uploads of the storage as the account sees it. */
  readonly tree: StorageUploads;
  realPathOf(segments: readonly string[]): string;
  kindOf(segments: readonly string[]): Promise<"file" | "folder" | undefined>;
  /** Throws unless an operation is granted at a path. */
  requireFor(segments: readonly string[], operation: Operation): Promise<void>;
}

/** Creates the uploads of an account. Their states have paths of the storage. */
export function createAccountUploads(options: AccountUploadsOptions): AccountUploads {
  const { account, owner, apiKey, storage, tree, realPathOf, kindOf, requireFor } = options;
  const { maxFileBytes, permissions } = account;
  const toKey = (id: string): UploadKey => ({ owner, id });

  function toUpload(state: UploadState): AccountUpload | undefined {
    const note = parseNote(state.note);
    return note && { id: state.key.id, state, note };
  }

  const isSeen = ({ note }: AccountUpload): boolean => apiKey === undefined || note.key === apiKey;

  /** The upload that is known by a note that this service has written. */
  function toKnown({ id, note }: AccountUpload, state: UploadState): AccountUpload {
    return { id, note, state };
  }

  async function requireWrite({ path, concat }: UploadNote): Promise<void> {
    if (concat !== "partial") return requireFor(path, "write");
    if (isReserved(path)) throw createError("name-reserved");
    if (!permissions.grantsSomewhere("write")) throw createError("denied");
  }

  function requireSize({ protocol }: UploadNote, size = 0): void {
    if (maxFileBytes !== undefined && size > maxFileBytes) throw createTooLargeError(protocol, maxFileBytes);
  }

  /** Checks that the account may still write where the upload is for. */
  async function requireSame({ state, note }: AccountUpload): Promise<void> {
    await requireWrite(note);
    if (realPathOf(toKeptPath(state.key.id, note)) !== state.path) throw createError("denied");
  }

  async function create({ note: wanted, size, expires, signal }: NewUpload): Promise<AccountUpload> {
    const note = apiKey === undefined ? wanted : { ...wanted, key: apiKey };
    await requireWrite(note);
    requireSize(note, size);
    const key = toKey(randomHex(16));
    const path = toKeptPath(key.id, note);
    if (note.concat === "partial") await requireFolder(note.path);
    const draft = {
      note: toNoteText(note),
      expires,
      // The file of a joined upload is there already: the upload needs no room for it.
      ...(size !== undefined && note.joined === undefined && { size }),
      ...toConditions(note),
      ...(note.concat === "partial" && { isPartial: true }),
      ...(note.isNamedLater && { isNamedLater: true }),
      ...(signal && { signal }),
    };
    try {
      const state = await tree.create(key, toStoragePath(path), draft);
      return { id: key.id, note, state: { ...state, path: realPathOf(path) } };
    } catch (error) {
      throw toCreationError(error);
    }
  }

  async function requireFolder(segments: readonly string[]): Promise<void> {
    const kind = await kindOf(segments);
    if (kind !== "folder") throw new StorageError(kind === undefined ? "parent-missing" : "not-a-folder");
  }

  async function find(id: string): Promise<AccountUpload | undefined> {
    const state = await storage.find(toKey(id));
    const upload = state && toUpload(state);
    return upload && isSeen(upload) ? upload : undefined;
  }

  async function peek(id: string): Promise<AccountUpload | undefined> {
    for await (const upload of list()) if (upload.id === id) return upload;
    return undefined;
  }

  async function* list(): AsyncGenerator<AccountUpload> {
    for await (const upload of listCounted()) if (isSeen(upload)) yield upload;
  }

  async function* listCounted(): AsyncGenerator<AccountUpload> {
    for await (const state of storage.list(owner)) {
      const upload = state.lost === true ? undefined : toUpload(state);
      if (upload !== undefined) yield upload;
    }
  }

  async function append(
    upload: AccountUpload,
    content: AsyncIterable<Uint8Array>,
    { announced, ...appending }: AppendUploadOptions = {},
  ): Promise<AccountUpload> {
    await requireSame(upload);
    const { offset } = upload.state;
    const limited = limitContent(content, maxFileBytes, announced, offset);
    const state = await storage.append(toKey(upload.id), offset, limited, {
      ...appending,
      owner: foldName(account.name),
    });
    return toKnown(upload, state);
  }

  const update: AccountUploads["update"] = async (upload, { note, ...change }) => {
    const text = note && { note: toNoteText(note) };
    return toKnown(
      { ...upload, ...(note && { note }) },
      await storage.update(toKey(upload.id), { ...change, ...text }),
    );
  };

  async function checkCompletion(upload: AccountUpload): Promise<void> {
    await requireSame(upload);
    requireSize(upload.note, upload.state.offset);
  }

  const complete: AccountUploads["complete"] = async (upload, { path, ...completing } = {}) => {
    await checkCompletion(upload);
    if (path !== undefined) await requireFor(path, "write");
    const target = path && { path: realPathOf(path) };
    return storage.complete(toKey(upload.id), { ...toConditions(upload.note), ...completing, ...target });
  };

  async function* read({ id }: AccountUpload): AsyncGenerator<Uint8Array> {
    yield* storage.read?.(toKey(id)) ?? [];
  }

  async function join(
    parts: readonly AccountUpload[],
    { note, path = note.path, signal, ...draft }: NewUpload,
  ): Promise<NewUpload> {
    await requireFor(path, "write");
    const size = parts.reduce((sum, { state }) => sum + state.offset, 0);
    requireSize(note, size);
    if (tree.join === undefined) throw createError("upload-unsupported");
    const options = { ...toConditions(note), size, owner: foldName(account.name), ...(signal && { signal }) };
    const keys = parts.map(({ id }) => toKey(id));
    const entry = await tree.join(keys, toStoragePath(path), options).catch((error: unknown) => {
      throw toCreationError(error);
    });
    const { etag, modified } = entry;
    const joined = { ...(etag !== undefined && { etag }), size: entry.size, modified: modified.getTime() };
    // The conditions were about the file as it was before, and the file stays if the client disconnects now.
    const { ifMatch: _, ifNoneMatch: __, ...kept } = note;
    return { ...draft, size, note: { ...kept, joined } };
  }

  return {
    canRead: storage.read !== undefined,
    canJoin: tree.join !== undefined,
    checkPermission: requireWrite,
    checkAccess: requireSame,
    create,
    find,
    peek,
    list,
    listCounted,
    append,
    update,
    checkCompletion,
    complete,
    discard: async (id) =>
      apiKey === undefined || (await find(id)) !== undefined ? storage.discard(toKey(id)) : undefined,
    read,
    join,
  };
}

function toConditions({ ifMatch, ifNoneMatch }: UploadNote): { ifMatch?: EntityTags; ifNoneMatch?: EntityTags } {
  return { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
}

/** The storage at the path may have no uploads, although others in the tree have. */
function toCreationError(error: unknown): unknown {
  return hasCode(error, "unsupported") ? createError("upload-unsupported", { cause: error }) : error;
}
