import { md5 } from "@noble/hashes/legacy";
import { hasCode, type RemoveOptions, StorageError } from "../../contracts/storage-adapter.ts";
import { wait } from "../../platform/wait.ts";
import { isOfKind, meetsConditions } from "../conditions.ts";
import type { CopiedObjects } from "../object-store/copied-objects.ts";
import { isSuccessful, type StoreRequest } from "../object-store/http/client.ts";
import { isTemporary, toWait } from "../object-store/http/retry.ts";
import { childText, escapeXml, isXmlText, parseResponse } from "../object-store/http/xml.ts";
import { isKey, type ObjectLocation, toPropertiesKey } from "../object-store/keys.ts";
import type { ObjectPage } from "../object-store/member-pages.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { changeConditionally, type S3ConditionSupport } from "./conditional-change.ts";
import { isMissing, toCode, toErrorCode, toS3StorageError } from "./errors.ts";
import { putMarker } from "./folder-marker.ts";
import { headObject } from "./head.ts";
import { listPage } from "./list.ts";

/** How many requests that remove a single object are sent in parallel. */
const MAX_PARALLEL = 8;

/** Removes objects. */
export interface S3Remover {
  /** Removes a file, or a folder with everything below it. */
  remove(location: ObjectLocation, conditions: RemoveOptions): Promise<void>;
  /** Removes the objects of a folder that were copied and, if no others are left, its properties. */
  removeCopied(location: ObjectLocation, copied: CopiedObjects): Promise<void>;
  /** Removes an object, if there is one. */
  removeObject(key: string): Promise<void>;
  /** Removes the properties of what is, or was, at a location. */
  removeProperties(location: ObjectLocation): Promise<void>;
}

/** How many objects of a folder the removal has requested so far, and how many were removed. */
interface Count {
  asked: number;
  removed: number;
}

/** Creates the remover of one storage. */
export function createS3Remover(client: S3Client, support: S3ConditionSupport): S3Remover {
  const { prefix } = client.settings;
  /** False once the store has rejected a batch removal. It is not tried again. */
  let hasBatches = true;

  async function remove(location: ObjectLocation, conditions: RemoveOptions): Promise<void> {
    if (location.parent === undefined) throw new StorageError("denied", "The root folder cannot be removed.");
    const file = await headObject(client, location.key);
    if (!isOfKind(file === undefined ? "folder" : "file", conditions))
      throw new StorageError("not-found", location.key);
    if (file === undefined) return removeFolder(location, conditions);
    if (!meetsConditions(file.etag, conditions)) throw new StorageError("precondition-failed", location.key);
    const properties = toPropertiesKey(location);
    const mayVanish = await markEmptiedParent(location.parent, (key) => key === location.key || key === properties);
    await removeFile(location.key, conditions);
    await removeLeftProperties(location);
    if (mayVanish) await keepEmpty(location.parent);
  }

  async function removeFolder(location: ObjectLocation, conditions: RemoveOptions, copied?: CopiedObjects) {
    const { key, folder, parent = prefix } = location;
    const first = await listPage(client, { prefix: folder });
    if (first.keys.length === 0) throw new StorageError("not-found", key);
    if (conditions.ifMatch !== undefined) throw new StorageError("precondition-failed", key);
    const properties = toPropertiesKey(location);
    const mayVanish = await markEmptiedParent(parent, (one) => one.startsWith(folder) || one === properties);
    await removeTree(folder, first, copied);
    if (copied?.hasRemaining() !== true) await removeLeftProperties(location);
    if (mayVanish) await keepEmpty(parent);
  }

  const removeCopied: S3Remover["removeCopied"] = (location, copied) => removeFolder(location, {}, copied);

  /**
   * Removes the properties after their member, so that a change at this moment does not leave them. Looks for them
   * first: in a bucket with versions, a removal of nothing leaves a trace.
   */
  async function removeProperties(location: ObjectLocation): Promise<void> {
    const key = toPropertiesKey(location);
    if (isKey(key) && (await headObject(client, key)) !== undefined) await removeFile(key, {});
  }

  /** Removes the properties of a member that is gone. Its removal has succeeded, so errors are ignored. */
  async function removeLeftProperties(location: ObjectLocation): Promise<void> {
    await removeProperties(location).catch(() => undefined);
  }

  /**
   * Keeps the parent folder if all its members are being removed: without a marker, it exists only through its members.
   * Returns whether the folder has no marker and may still vanish, because other members may be removed at the same
   * time. The caller then checks again after the removal.
   */
  async function markEmptiedParent(parent: string, isGoing: (key: string) => boolean): Promise<boolean> {
    if (parent === prefix) return false;
    const { keys } = await listPage(client, { prefix: parent, most: 3 });
    if (!keys.every(({ key }) => isGoing(key))) return !keys.some(({ key }) => key === parent);
    await putMarker(client, support, parent).catch((error: unknown) => {
      if (!hasCode(error, "precondition-failed")) throw error;
    });
    return false;
  }

  /** Checks the parent again after a removal. The removal has succeeded, so errors are ignored. */
  async function keepEmpty(parent: string): Promise<void> {
    await markEmptiedParent(parent, () => false).catch(() => false);
  }

  async function removeFile(key: string, conditions: RemoveOptions): Promise<void> {
    await changeConditionally(client, support, {
      kind: "delete",
      key,
      conditions,
      what: `DELETE ${key}`,
      async send(headers) {
        const response = await client.call({ method: "DELETE", key, headers });
        return isMissing(response) && conditions.ifMatch === undefined ? { ...response, status: 204 } : response;
      },
    });
  }

  /**
   * Removes a folder batch by batch, and lists the next page meanwhile. Its error says how many objects were removed.
   */
  async function removeTree(folder: string, first: ObjectPage, copied?: CopiedObjects): Promise<void> {
    const count: Count = { asked: 0, removed: 0 };
    let page = first;
    try {
      for (;;) {
        const next = page.token === undefined ? undefined : listPage(client, { prefix: folder, token: page.token });
        next?.catch(() => undefined);
        const keys = copied === undefined ? page.keys.map(({ key }) => key) : await copied.select(page.keys);
        count.asked += keys.length;
        await removeKeys(keys, count);
        if (next === undefined) return;
        page = await next;
      }
    } catch (error) {
      throw error instanceof StorageError ? toPartial(error, count, page.token !== undefined) : error;
    }
  }

  async function removeKeys(keys: readonly string[], count: Count): Promise<void> {
    // XML cannot represent some characters, so keys with them cannot be in a batch.
    const listed = hasBatches ? keys.filter(isXmlText) : [];
    if (listed.length > 0 && !(await removeBatch(listed, count))) {
      hasBatches = false;
      return removeKeys(keys, count);
    }
    const isListed = new Set(listed);
    await removeEach(
      keys.filter((key) => !isListed.has(key)),
      count,
    );
  }

  /**
   * Removes objects with one request each, several in parallel. Rejects with the first failure after all requests have
   * ended.
   */
  async function removeEach(keys: string[], count: Count): Promise<void> {
    const failures: unknown[] = [];

    async function work(): Promise<void> {
      for (let key = keys.pop(); key !== undefined && failures.length === 0; key = keys.pop()) {
        try {
          await removeFile(key, {});
          count.removed += 1;
        } catch (error) {
          failures.push(error);
        }
      }
    }

    await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, keys.length) }, work));
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Removes up to 1,000 objects with one request. Retries those that failed temporarily. Returns `false` if the store
   * does not support such requests.
   */
  async function removeBatch(keys: readonly string[], count: Count): Promise<boolean> {
    let left = keys;
    for (let attempt = 1; ; attempt += 1) {
      const request = toBatchRequest(left);
      const response = await client.call(request);
      if (response.status === 501 || response.status === 405) {
        // All keys are removed in another way, including those that are already removed.
        count.removed -= keys.length - left.length;
        return false;
      }
      if (!isSuccessful(response)) throw toS3StorageError(response, describeS3Request(request));
      const failed = toFailures(response.text, left);
      count.removed += left.length - failed.length;
      if (failed.length === 0) return true;
      const codes = [...new Set(failed.map(({ code }) => code))];
      const lasting = failed.find(({ code }) => !isTemporary(0, code));
      if (lasting !== undefined || attempt > client.settings.retries) {
        throw new StorageError(toErrorCode(500, lasting?.code ?? ""), codes.join(", "));
      }
      left = failed.map(({ key }) => key);
      await wait(toWait(attempt, null, client.settings), undefined);
    }
  }

  return { remove, removeCopied, removeObject: (key) => removeFile(key, {}), removeProperties };
}

/** Creates the error of a removal that failed midway. */
function toPartial({ code, message }: StorageError, { asked, removed }: Count, isMore: boolean): StorageError {
  const left = asked - removed;
  const what = left > 0 ? `${left} of ${asked} objects were not removed` : `${removed} objects were removed`;
  const behind = isMore ? `, ${left > 0 ? "nor" : "but not"} the objects after them` : "";
  return new StorageError(code, `${what}${behind} (${message})`);
}

function toBatchRequest(keys: readonly string[]): StoreRequest & { readonly body: Uint8Array<ArrayBuffer> } {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
  const text = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects.join("")}</Delete>`;
  const body = new TextEncoder().encode(text);
  const headers = { "content-md5": toBase64(md5(body)), "content-type": "application/xml" };
  return { method: "POST", query: { delete: "" }, headers, body };
}

/** Returns the keys that were not removed, and why. A response that is not a result counts as a failure of all keys. */
function toFailures(text: string, keys: readonly string[]): readonly { readonly key: string; readonly code: string }[] {
  const root = parseResponse(text);
  if (root?.name !== "DeleteResult") {
    const code = root?.name === "Error" ? toCode(childText(root, "Code")) : "NoResult";
    return keys.map((key) => ({ key, code }));
  }
  return root.parts
    .filter(({ name, parts }) => name === "Error" && parts.length > 0)
    .map((error) => ({ key: childText(error, "Key"), code: toCode(childText(error, "Code")) }))
    .filter(({ code }) => code !== "NoSuchKey");
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
