import { type ChangeProtocol, changeObject, type ObjectChange } from "../object-store/http/change-object.ts";
import type { StoreResponse } from "../object-store/http/client.ts";
import type { S3Client } from "./client.ts";
import type { S3Head } from "./entries.ts";
import { codeOf, toS3StorageError } from "./errors.ts";
import { headObject } from "./head.ts";

/** Kinds of changes: a PUT, a copy, the completion of a multipart upload, or a removal. */
export type S3ChangeKind = "put" | "copy" | "complete" | "delete";

/** What is known about the condition support of one store. */
export interface S3ConditionSupport {
  /** Kinds of changes that are sent with conditions. A kind is removed when the store responds 501 to it. */
  readonly sent: Set<S3ChangeKind>;
  /** Whether the store compares entity-tags only without quotes, as Ceph's gateway does. */
  areTagsBare: boolean;
}

/** Creates the assumptions about a store before its first response. */
export function createConditionSupport(conditionalWrites: boolean): S3ConditionSupport {
  return { sent: new Set(conditionalWrites ? ["put", "copy", "complete", "delete"] : []), areTagsBare: false };
}

/** One change of one key. */
export interface ConditionalChange extends ObjectChange {
  readonly kind: S3ChangeKind;
}

/**
 * Changes a key if its object meets the conditions. If the store responds 412, or 404 or 409 in a race, the change
 * looks again. If it responds 501, or ignores conditions, only the check just before the change remains.
 *
 * Returns `undefined` if the response was lost, but the change was made. Rejects with `precondition-failed`, or with
 * the error that the store's response maps to.
 */
export async function changeConditionally(
  client: S3Client,
  support: S3ConditionSupport,
  change: ConditionalChange,
): Promise<StoreResponse | undefined> {
  const result = await changeObject(change, {
    ...createConditionForm(support, change.kind),
    random: client.settings.random,
    look: (key, signal) => headObject(client, key, signal),
    toError: toS3StorageError,
  });
  return result.response;
}

/** Creates the form of the conditions of one change. It adapts what is known about the store to its refusals. */
function createConditionForm(
  support: S3ConditionSupport,
  kind: S3ChangeKind,
): Pick<ChangeProtocol<S3Head>, "toHeaders" | "isConditionRefusal"> {
  let isBare = false;
  /** Tag that the store has just reported as that of another version. */
  let refusedTag: string | undefined;

  function toHeaders(current: S3Head | undefined): Record<string, string> | undefined {
    // If the tag is unchanged, the store compares tags in the other form.
    if (refusedTag !== undefined && current?.etag === refusedTag) support.areTagsBare = !isBare;
    if (!support.sent.has(kind)) return undefined;
    isBare = support.areTagsBare;
    if (current === undefined) return { "if-none-match": "*" };
    return { "if-match": isBare ? current.etag.replaceAll('"', "") : current.etag };
  }

  function isConditionRefusal(response: StoreResponse, current: S3Head | undefined): boolean {
    if (!isAboutConditions(response)) return false;
    if (isUnknown(response)) support.sent.delete(kind);
    refusedTag = response.status === 412 ? current?.etag : undefined;
    return true;
  }

  return { toHeaders, isConditionRefusal };
}

/**
 * Whether the store does not support conditions, or another writer was faster: it replaced or removed the object, or is
 * changing it.
 */
function isAboutConditions(response: StoreResponse): boolean {
  if (response.status === 412 || isUnknown(response)) return true;
  if (response.status === 409) return /^(?:ConditionalRequestConflict|OperationAborted|)$/.test(codeOf(response));
  return response.status === 404 && codeOf(response) === "NoSuchKey";
}

/** Whether the store does not support conditions of such a change. Other 501 responses say nothing about conditions. */
function isUnknown(response: StoreResponse): boolean {
  return response.status === 501 && codeOf(response) === "NotImplemented";
}
