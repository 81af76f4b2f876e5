import type { Operation } from "../../contracts/account.ts";
import { type EntityTags, hasCode, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import type {
  CompleteOptions,
  DiscardedUpload,
  StorageUploads,
  UploadKey,
  UploadState,
} from "../../contracts/storage-uploads.ts";
import { createError } from "../../http/errors.ts";
import { createTooLargeError } from "../../http/uploads/length.ts";
import type { Account } from "../account.ts";
import { limitContent } from "../file-size-limit.ts";
import { isReserved, toStoragePath } from "../path.ts";
import { parseNote, toKeptPath, toNoteText, type UploadNote } from "./upload-note.ts";

/** An upload of an account. */
export interface AccountUpload {
  readonly id: string;
  readonly state: UploadState;
  readonly note: UploadNote;
}

/** What a new upload starts with. */
export interface NewUpload {
  readonly size?: number;
  readonly expires: Date;
  readonly signal?: AbortSignal;
  /** Its path is that of the file; for a partial upload that of the folder. It has the conditions. */
  readonly note: UploadNote;
  /** Where {@link AccountUploads.join} makes the file. Default: the path of the note. */
  readonly path?: readonly string[];
}

/** Options of a completion. */
export interface CompleteUploadOptions extends Pick<CompleteOptions, "signal" | "onRepeat"> {
  /** The path of the file, for an upload that is named later. It is in the folder of the upload. */
  readonly path?: readonly string[];
}

/** New values of some members of an upload. */
export interface AccountUploadChange {
  readonly size?: number;
  readonly expires?: Date;
  readonly note?: UploadNote;
}

/** Options of an append. */
export interface AppendUploadOptions {
  readonly signal?: AbortSignal;
  /** The announced number of bytes. */
  readonly announced?: number | undefined;
  /** See `AppendOptions`. */
  readonly verify?: () => Promise<void>;
}

/**
 * The resumable uploads of one account. No other account sees them, and an API key that is for less than its account
 * sees those that it has created. Creation, appends and completion need `write` at the path of the file, at that time,
 * and the path has to mean the same path of the storage as at creation; otherwise they throw HttpError `denied`. Of a
 * partial upload, `write` may be granted anywhere. Reading what is known of an upload, and ending it, needs no
 * permission. Other errors are those of `StorageUploads`.
 */
export interface AccountUploads {
  /** Whether uploads can be read before they are complete. */
  readonly canRead: boolean;
  /** Whether uploads can be joined. */
  readonly canJoin: boolean;
  /** Throws HttpError `denied` unless the account may create an upload with this note. */
  checkPermission(note: UploadNote): Promise<void>;
  /**
   * Creates an upload. Throws HttpError `too-large` for a size above the account's limit, and `method-not-implemented`
   * if the storage at the path has no uploads.
   */
  create(upload: NewUpload): Promise<AccountUpload>;
  /** Returns an upload; `undefined` if there is none. Takes over from a running append. */
  find(id: string): Promise<AccountUpload | undefined>;
  /** Returns an upload without taking over from anyone: the offset may be old. */
  peek(id: string): Promise<AccountUpload | undefined>;
  /** Returns the uploads, as {@link AccountUploads.peek} does each. */
  list(): AsyncIterable<AccountUpload>;
  /** As {@link AccountUploads.list}, of the whole account: they count against its limits. */
  listCounted(): AsyncIterable<AccountUpload>;
  /**
   * Adds content at the offset of `upload.state`. Throws HttpError `too-large` when the file exceeds the account's
   * limit.
   */
  append(
    upload: AccountUpload,
    content: AsyncIterable<Uint8Array>,
    options?: AppendUploadOptions,
  ): Promise<AccountUpload>;
  /** Changes the members that `change` names. */
  update(upload: AccountUpload, change: AccountUploadChange): Promise<AccountUpload>;
  /** Throws HttpError `denied` or `too-large` as a completion does, without changing anything. */
  checkCompletion(upload: AccountUpload): Promise<void>;
  /** Turns an upload into its file, under the conditions of its note. */
  complete(upload: AccountUpload, options?: CompleteUploadOptions): Promise<StorageEntry>;
  /** Removes an upload, never a file. Returns what this call has removed, if anything. */
  discard(id: string): Promise<DiscardedUpload | undefined>;
  /** Returns the bytes of an upload, if {@link AccountUploads.canRead}. */
  read(upload: AccountUpload): AsyncIterable<Uint8Array>;
  /** Throws HttpError `denied` unless the account may add to an upload. */
  checkAccess(upload: AccountUpload): Promise<void>;
  /**
   * Joins partial uploads into one file, in this order. Returns the new upload with a note of this file; the caller
   * creates it.
   */
  join(parts: readonly AccountUpload[], upload: NewUpload): Promise<NewUpload>;
}

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

/** The owner of an account's uploads, by the account's name. */
export function toUploadOwner(name: string): string {
  return `account:${name}`;
}

/** The name that {@link toUploadOwner} got; `undefined` for other owners. */
export function parseUploadOwner(owner: string): string | undefined {
  return /^account:(.*)$/s.exec(owner)?.[1];
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
    const key = toKey(crypto.randomUUID().replaceAll("-", ""));
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
    const state = await storage.append(toKey(upload.id), offset, limited, { ...appending, owner: account.name });
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
    { note, path = note.path, ...draft }: NewUpload,
  ): Promise<NewUpload> {
    await requireFor(path, "write");
    const size = parts.reduce((sum, { state }) => sum + state.offset, 0);
    requireSize(note, size);
    if (tree.join === undefined) throw createError("upload-unsupported");
    const { signal } = draft;
    const options = { ...toConditions(note), size, owner: account.name, ...(signal && { signal }) };
    const keys = parts.map(({ id }) => toKey(id));
    const entry = await tree.join(keys, toStoragePath(path), options).catch((error: unknown) => {
      throw toCreationError(error);
    });
    const { etag, modified } = entry;
    const joined = { ...(etag !== undefined && { etag }), size: entry.size, modified: modified.getTime() };
    // The conditions were about the file as it was before.
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
