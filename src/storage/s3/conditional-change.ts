import { hasCode, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { meetsConditions } from "../conditions.ts";
import { isSuccessful, type StoreResponse } from "../object-store/http/client.ts";
import { wait } from "../object-store/http/retry.ts";
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
export interface ConditionalChange {
  readonly kind: S3ChangeKind;
  readonly key: string;
  /** Tag that this change gives to its object. A removal has none. */
  readonly writer?: string;
  readonly conditions: Pick<WriteOptions, "ifMatch" | "ifNoneMatch">;
  /** The caller has just seen that there is no object. */
  readonly isKnownToBeFree?: true;
  readonly signal?: AbortSignal | undefined;
  /** Description for the log. */
  readonly what: string;
  /** Sends the change with these headers. */
  send(headers: Readonly<Record<string, string>>): Promise<StoreResponse>;
}

/** Maximum number of attempts when others change the key at the same time. */
const MAX_ROUNDS = 12;
const ROUND_MS = 50;

/**
 * Changes a key if its object meets the conditions.
 *
 * Each round looks at the object and checks the conditions. Then it lets the store make the change only if the object
 * is still the same (or still missing). In this way any list of tags becomes one condition that stores support.
 *
 * If the store responds 412, or 404 or 409 in a race, the next round looks again. If it responds 501, or ignores
 * conditions, only the check just before the change remains.
 *
 * If the response to a write is lost, the write recognizes its object by the writer's tag. A removal that was sent more
 * than once succeeded if nothing is left.
 *
 * Rejects with `precondition-failed`, or with the error that the store's response maps to.
 */
export async function changeConditionally(
  client: S3Client,
  support: S3ConditionSupport,
  change: ConditionalChange,
): Promise<StoreResponse | undefined> {
  const { ifMatch, ifNoneMatch } = change.conditions;
  if (ifMatch !== undefined || ifNoneMatch !== undefined) return changeIfUnmodified(client, support, change);
  const response = await sendOnce(client, change, {});
  return response === undefined || isSuccessful(response) ? response : refuse(client, change, response);
}

async function changeIfUnmodified(
  client: S3Client,
  support: S3ConditionSupport,
  change: ConditionalChange,
): Promise<StoreResponse | undefined> {
  let previous: S3Refused | undefined;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const current = await look(client, change, round);
    if (previous !== undefined && isEffect(current, change, previous.attempts)) return undefined;
    if (!meetsConditions(current?.etag, change.conditions)) throw new StorageError("precondition-failed", change.what);
    if (previous !== undefined) learnForm(support, current, previous);
    const isSent = support.sent.has(change.kind);
    const isBare = support.areTagsBare;
    const response = await sendOnce(client, change, isSent ? toHeaders(current, isBare) : {});
    if (response === undefined || isSuccessful(response)) return response;
    if (!isSent || !isAboutConditions(response)) return refuse(client, change, response);
    if (isUnknown(response)) support.sent.delete(change.kind);
    previous = { tag: response.status === 412 ? current?.etag : undefined, isBare, attempts: response.attempts };
  }
  throw new StorageError("unavailable", `${change.what}: other clients keep changing it`);
}

/** A rejected attempt: the tag that the store did not accept, the form of the tag, and the number of requests. */
interface S3Refused {
  readonly tag: string | undefined;
  readonly isBare: boolean;
  readonly attempts: number;
}

/**
 * Learns the form of tags. If the store reported another version, but the tag is unchanged, it compares tags in the
 * other form.
 */
function learnForm(support: S3ConditionSupport, current: S3Head | undefined, { tag, isBare }: S3Refused): void {
  if (tag !== undefined && current?.etag === tag) support.areTagsBare = !isBare;
}

async function look(client: S3Client, change: ConditionalChange, round: number): Promise<S3Head | undefined> {
  if (round === 0 && change.isKnownToBeFree) return undefined;
  if (round > 1) await wait(client.settings.random() * ROUND_MS * round, change.signal);
  return headObject(client, change.key, change.signal);
}

/** Sends the change once. Returns `undefined` if no response arrived, but the change was made. */
async function sendOnce(
  client: S3Client,
  change: ConditionalChange,
  headers: Readonly<Record<string, string>>,
): Promise<StoreResponse | undefined> {
  try {
    return await change.send(headers);
  } catch (error) {
    if (hasCode(error, "unavailable") && (await hasEffect(client, change))) return undefined;
    throw error;
  }
}

/** Throws the error of a response, unless an earlier attempt made the change. */
async function refuse(client: S3Client, change: ConditionalChange, response: StoreResponse): Promise<undefined> {
  const mayBeDone = response.attempts > 1 || response.status >= 500;
  if (mayBeDone && (await hasEffect(client, change))) return undefined;
  throw toS3StorageError(response, change.what);
}

/** Whether the change was made although no response says so. Returns `false` if the store cannot be reached. */
async function hasEffect(client: S3Client, change: ConditionalChange): Promise<boolean> {
  try {
    return isEffect(await headObject(client, change.key, change.signal), change, Number.POSITIVE_INFINITY);
  } catch {
    return false;
  }
}

/** Whether the object that was found is the result of the change, after this number of attempts. */
function isEffect(found: S3Head | undefined, { kind, writer }: ConditionalChange, attempts: number): boolean {
  if (kind === "delete") return found === undefined && attempts > 1;
  return writer !== undefined && found?.writer === writer;
}

function toHeaders(current: S3Head | undefined, isBare: boolean): Record<string, string> {
  if (current === undefined) return { "if-none-match": "*" };
  return { "if-match": isBare ? current.etag.replaceAll('"', "") : current.etag };
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
