import { StorageError } from "../../../contracts/storage-adapter.ts";
import type { UploadKey } from "../../../contracts/storage-uploads.ts";
import { sha256Hex } from "../../../platform/sha256.ts";
import { wait } from "../../../platform/wait.ts";
import { UPLOADS_FOLDER } from "../../upload-checks.ts";
import type { TextObject } from "../text-objects.ts";
import type { UploadBucket } from "./bucket.ts";
import { isNameless, type StoredUpload } from "./stored-upload.ts";

/*
 * The objects of uploads are below the prefix of the storage:
 *
 *     .fileferry-uploads.tmp/<hash of the owner>/<id>/state.json    all that is known (`stored-upload.ts`)
 *     .fileferry-uploads.tmp/<hash of the owner>/<id>/tail-<uuid>   the bytes after the last part
 *     .fileferry-uploads.tmp/<hash of the owner>/<id>/parts         all bytes of an upload without a name, when needed
 *
 * The parts are a multipart upload of the key of the file to be. It is not visible, and becomes the file in one step.
 * An upload without a name is partial, or gets its name at the end. Its parts are one of the key `parts`, as a
 * multipart upload is bound to its key.
 */

/** An upload, and the version of its object. */
export interface UploadVersion {
  readonly upload: StoredUpload;
  readonly object: TextObject;
}

/** The states of the uploads of a storage. */
export interface ObjectUploadStates {
  /** Returns the state of an upload, also if it was removed. */
  read(key: UploadKey): Promise<UploadVersion | undefined>;
  /** Creates a state. Returns `false` if there is one with this key. */
  create(upload: StoredUpload): Promise<boolean>;
  /** Replaces a version. Returns the new one; `undefined` if another caller has replaced or removed it. */
  replace(current: UploadVersion, next: StoredUpload): Promise<UploadVersion | undefined>;
  /**
   * Replaces the current version with the result of `step`. What `step` throws is thrown.
   * @throws StorageError `not-found` if another caller has removed it, or noted that it is lost.
   */
  change(current: UploadVersion, step: (upload: StoredUpload) => StoredUpload): Promise<UploadVersion>;
  /** Yields the keys of the states of one owner, or of all. */
  listKeys(owner?: string): AsyncIterable<readonly string[]>;
  /** Returns the state in an object. */
  readFrom(objectKey: string): Promise<UploadVersion | undefined>;
  /** Returns a key for the bytes after the last part. */
  toTailKey(key: UploadKey): string;
  /** Returns the key of the multipart upload with the parts of an upload. */
  toPartsKey(upload: StoredUpload): string;
  /** Removes the objects of an upload except its state. */
  removeBytes(key: UploadKey): Promise<void>;
  /** Removes what an upload consists of, its state last; that of a lost one stays. */
  removeAll(upload: StoredUpload): Promise<void>;
}

const STATE = "/state.json";
/** How often a change is tried again because others were faster. */
const MAX_ROUNDS = 12;
const ROUND_MS = 20;

/** Creates the access to the states in a bucket. */
export function createObjectUploadStates(bucket: UploadBucket): ObjectUploadStates {
  const root = `${bucket.prefix}${UPLOADS_FOLDER}/`;
  const toOwnerFolder = (owner: string): string => `${root}${sha256Hex(owner)}/`;
  const toFolder = ({ owner, id }: UploadKey): string => `${toOwnerFolder(owner)}${id}`;
  const toStateKey = (key: UploadKey): string => `${toFolder(key)}${STATE}`;

  function read(key: UploadKey): Promise<UploadVersion | undefined> {
    return readFrom(toStateKey(key));
  }

  async function readFrom(objectKey: string): Promise<UploadVersion | undefined> {
    const object = await bucket.readObject(objectKey);
    const upload = object && parse(object.text);
    if (object === undefined || upload === undefined) return undefined;
    return toStateKey(upload.key) === objectKey ? { upload, object } : undefined;
  }

  async function create(upload: StoredUpload): Promise<boolean> {
    const created = await bucket.writeObject(toStateKey(upload.key), toText(upload), undefined);
    return created !== undefined;
  }

  async function replace(current: UploadVersion, next: StoredUpload): Promise<UploadVersion | undefined> {
    const object = await bucket.writeObject(toStateKey(next.key), toText(next), current.object);
    return object && { upload: next, object };
  }

  async function change(current: UploadVersion, step: (upload: StoredUpload) => StoredUpload): Promise<UploadVersion> {
    let version: UploadVersion | undefined = current;
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const { isRemoved, isLost = false } = version?.upload ?? {};
      if (version === undefined || isRemoved === true || (isLost && version !== current))
        throw new StorageError("not-found");
      const replaced = await replace(version, step(version.upload));
      if (replaced !== undefined) return replaced;
      await wait(Math.random() * ROUND_MS * round);
      version = await read(version.upload.key);
    }
    throw new StorageError("locked", "Other calls keep changing the upload.");
  }

  async function* listKeys(owner?: string): AsyncGenerator<readonly string[]> {
    for await (const keys of bucket.listKeys(owner === undefined ? root : toOwnerFolder(owner))) {
      yield keys.filter((key) => key.endsWith(STATE));
    }
  }

  function toPartsKey(upload: StoredUpload): string {
    return isNameless(upload) ? `${toFolder(upload.key)}/parts` : bucket.locate(upload.path).key;
  }

  async function removeAll(upload: StoredUpload): Promise<void> {
    const { key, parts, joining = [] } = upload;
    if (parts !== undefined) await bucket.abort({ key: toPartsKey(upload), id: parts.id });
    for (const one of joining) await bucket.abort(one);
    await removeBytes(key);
    if (upload.isRemoved === true) await bucket.removeObjects([toStateKey(key)]);
  }

  async function removeBytes(key: UploadKey): Promise<void> {
    for await (const keys of bucket.listKeys(`${toFolder(key)}/`)) {
      await bucket.removeObjects(keys.filter((one) => !one.endsWith(STATE)));
    }
  }

  return {
    read,
    create,
    replace,
    change,
    listKeys,
    readFrom,
    toTailKey: (key) => `${toFolder(key)}/tail-${crypto.randomUUID()}`,
    toPartsKey,
    removeBytes,
    removeAll,
  };
}

/** The random version gives each text another entity-tag: a condition on a tag means exactly this text. */
function toText(upload: StoredUpload): string {
  return JSON.stringify({ ...upload, version: crypto.randomUUID() });
}

/** Only this storage writes here; a text of another program is no state. */
function parse(text: string): StoredUpload | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null && "key" in found ? (found as StoredUpload) : undefined;
  } catch {
    return undefined;
  }
}
