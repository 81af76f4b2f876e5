import { isStorageError, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { meetsConditions } from "../conditions.ts";
import type { S3Client } from "./client.ts";
import type { S3Head } from "./entries.ts";
import { codeOf, isDone, type S3Response, toStorageError } from "./errors.ts";
import { headObject } from "./head.ts";
import { wait } from "./retry.ts";

/** What a change is, to a store: a PUT, the joining of parts, or a removal. */
export type S3ChangeKind = "put" | "complete" | "delete";

/** What was found out about the conditions of one store. */
export interface S3ConditionSupport {
  /** Of which changes it takes conditions: where it answers 501 it is asked without from then on. */
  readonly sent: Set<S3ChangeKind>;
  /** Whether it compares entity-tags without their quotes only, as Ceph's gateway does. */
  areTagsBare: boolean;
}

/** What is taken for granted of a store before it has answered. */
export function createConditionSupport(conditionalWrites: boolean): S3ConditionSupport {
  return { sent: new Set(conditionalWrites ? ["put", "complete", "delete"] : []), areTagsBare: false };
}

/** One change of one key. */
export interface ConditionalChange {
  readonly kind: S3ChangeKind;
  readonly key: string;
  /** What the object is marked with when this change has made it; a removal has none. */
  readonly writer?: string;
  readonly conditions: Pick<WriteOptions, "ifMatch" | "ifNoneMatch">;
  /** Whether it was just seen that there is no object. */
  readonly isKnownToBeFree?: true;
  readonly signal?: AbortSignal | undefined;
  /** For the log. */
  readonly what: string;
  /** Does it, with these headers. */
  send(headers: Readonly<Record<string, string>>): Promise<S3Response>;
}

/** Others may change a key between the look at it and the change. After so many times it is busy. */
const MOST_ROUNDS = 12;
const ROUND_MS = 50;

/**
 * Changes a key where its object is what the conditions demand. Each round looks at the object, judges it, and lets the store do the change
 * only while it is still that one (or none): so any list of tags becomes one condition that stores know. Stores answer 412, or 404 and 409
 * in a race, and then it is looked at again; or 501, and then, as with those that take no notice of conditions, the look just before is all
 * there is. A write whose answer got lost is known again by the writer's mark; a removal that was sent more than once is done where nothing
 * is left.
 *
 * Rejects with `precondition-failed`, and with what the store's refusal amounts to.
 */
export async function exchange(
  client: S3Client,
  support: S3ConditionSupport,
  change: ConditionalChange,
): Promise<S3Response | undefined> {
  const { ifMatch, ifNoneMatch } = change.conditions;
  if (ifMatch !== undefined || ifNoneMatch !== undefined) return changeIfUnmodified(client, support, change);
  const response = await sendOnce(client, change, {});
  return response === undefined || isDone(response) ? response : refuse(client, change, response);
}

async function changeIfUnmodified(
  client: S3Client,
  support: S3ConditionSupport,
  change: ConditionalChange,
): Promise<S3Response | undefined> {
  let previous: S3Refused | undefined;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const current = await look(client, change, round);
    if (previous !== undefined && isEffect(current, change, previous.attempts)) return undefined;
    if (!meetsConditions(current?.etag, change.conditions)) throw new StorageError("precondition-failed", change.what);
    if (previous !== undefined) learnForm(support, current, previous);
    const isSent = support.sent.has(change.kind);
    const isBare = support.areTagsBare;
    const response = await sendOnce(client, change, isSent ? toHeaders(current, isBare) : {});
    if (response === undefined || isDone(response)) return response;
    if (!isSent || !isAboutConditions(response)) return refuse(client, change, response);
    if (isUnknown(response)) support.sent.delete(change.kind);
    previous = { tag: response.status === 412 ? current?.etag : undefined, isBare, attempts: response.attempts };
  }
  throw new StorageError("unavailable", `${change.what}: others change it all the time`);
}

/** What a store has refused: the tag, and its form, that it called another one, and in how many attempts. */
interface S3Refused {
  readonly tag: string | undefined;
  readonly isBare: boolean;
  readonly attempts: number;
}

/** Where the store called it another version, and it is the same, it compares tags in the form that was not sent. */
function learnForm(support: S3ConditionSupport, current: S3Head | undefined, { tag, isBare }: S3Refused): void {
  if (tag !== undefined && current?.etag === tag) support.areTagsBare = !isBare;
}

async function look(client: S3Client, change: ConditionalChange, round: number): Promise<S3Head | undefined> {
  if (round === 0 && change.isKnownToBeFree) return undefined;
  if (round > 1) await wait(client.settings.random() * ROUND_MS * round, change.signal);
  return headObject(client, change.key, change.signal);
}

/** The answer to one request; `undefined` where none came and the change is done all the same. */
async function sendOnce(
  client: S3Client,
  change: ConditionalChange,
  headers: Readonly<Record<string, string>>,
): Promise<S3Response | undefined> {
  try {
    return await change.send(headers);
  } catch (error) {
    if (isStorageError(error) && error.code === "unavailable" && (await hasEffect(client, change))) return undefined;
    throw error;
  }
}

/** Refuses, unless an earlier attempt did what this answer calls impossible. */
async function refuse(client: S3Client, change: ConditionalChange, response: S3Response): Promise<undefined> {
  const mayBeDone = response.attempts > 1 || response.status >= 500;
  if (mayBeDone && (await hasEffect(client, change))) return undefined;
  throw toStorageError(response, change.what);
}

/** Whether the change was done, though no answer says so; not where nobody can be asked. */
async function hasEffect(client: S3Client, change: ConditionalChange): Promise<boolean> {
  try {
    return isEffect(await headObject(client, change.key, change.signal), change, Number.POSITIVE_INFINITY);
  } catch {
    return false;
  }
}

/** Whether what is found is what the change makes, after so many attempts at it. */
function isEffect(found: S3Head | undefined, { kind, writer }: ConditionalChange, attempts: number): boolean {
  if (kind === "delete") return found === undefined && attempts > 1;
  return writer !== undefined && found?.writer === writer;
}

function toHeaders(current: S3Head | undefined, isBare: boolean): Record<string, string> {
  if (current === undefined) return { "if-none-match": "*" };
  return { "if-match": isBare ? current.etag.replaceAll('"', "") : current.etag };
}

/** Whether the store does not know conditions, or somebody else was quicker: the object is another, is gone, or is being changed. */
function isAboutConditions(response: S3Response): boolean {
  if (response.status === 412 || isUnknown(response)) return true;
  if (response.status === 409) return /^(?:ConditionalRequestConflict|OperationAborted|)$/.test(codeOf(response));
  return response.status === 404 && codeOf(response) === "NoSuchKey";
}

/** Whether the store does not know conditions of such a change; any other 501 says nothing of them. */
function isUnknown(response: S3Response): boolean {
  return response.status === 501 && codeOf(response) === "NotImplemented";
}
