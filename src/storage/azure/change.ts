import { isStorageError, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { hasConditions, meetsConditions } from "../conditions.ts";
import { isSuccessful, type StoreResponse } from "../object-store/http/client.ts";
import { wait } from "../object-store/http/retry.ts";
import type { AzureClient } from "./client.ts";
import { isConditionRefusal, toAzureError } from "./errors.ts";
import { type AzureHead, type AzureVersion, headBlob, toBlobVersion, WRITER } from "./head.ts";

/** One change of one key. */
export interface BlobChange {
  readonly key: string;
  /** Mark that this change gives to its blob. A removal has none. */
  readonly writer?: string;
  readonly conditions: Pick<WriteOptions, "ifMatch" | "ifNoneMatch">;
  /** The caller has just seen that there is no blob. */
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
 * Changes a key if its blob meets the conditions, and returns the version that the change has made.
 *
 * Each round looks at the blob and checks the conditions. Then it lets the store make the change only if the blob is
 * still the same, or still missing. In this way any list of tags becomes one condition that the store has. If the
 * response to a write is lost, the write recognizes its blob by its mark.
 * @throws StorageError `precondition-failed`, or the error that the store's response maps to.
 */
export async function changeBlob(client: AzureClient, change: BlobChange): Promise<AzureVersion> {
  const isConditional = hasConditions(change.conditions);
  let attempts = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const current = isConditional ? await look(client, change, round) : undefined;
    if (attempts > 0 && isEffect(current, change, attempts)) return current ?? NONE;
    if (isConditional && !meetsConditions(current?.etag, change.conditions)) {
      throw new StorageError("precondition-failed", change.what);
    }
    const response = await sendOnce(client, change, isConditional ? toHeaders(current) : {});
    if (!("status" in response)) return response;
    if (isSuccessful(response)) return toBlobVersion(response.headers);
    if (!isConditional || !isConditionRefusal(response)) return refuse(client, change, response);
    attempts = response.attempts;
  }
  throw new StorageError("unavailable", `${change.what}: other clients keep changing it`);
}

/** What a removal leaves. */
const NONE: AzureVersion = { modified: new Date(0), etag: "" };

async function look(client: AzureClient, change: BlobChange, round: number): Promise<AzureHead | undefined> {
  if (round === 0 && change.isKnownToBeFree) return undefined;
  if (round > 1) await wait(client.settings.random() * ROUND_MS * round, change.signal);
  return headBlob(client, change.key, change.signal);
}

/** Sends the change once. Returns the version if no response arrived, but the change was made. */
async function sendOnce(
  client: AzureClient,
  change: BlobChange,
  headers: Readonly<Record<string, string>>,
): Promise<StoreResponse | AzureVersion> {
  try {
    return await change.send(headers);
  } catch (error) {
    if (!isStorageError(error) || error.code !== "unavailable") throw error;
    const made = await findEffect(client, change);
    if (made === undefined) throw error;
    return made;
  }
}

/** Throws the error of a response, unless an earlier attempt made the change. */
async function refuse(client: AzureClient, change: BlobChange, response: StoreResponse): Promise<AzureVersion> {
  const made = response.attempts > 1 || response.status >= 500 ? await findEffect(client, change) : undefined;
  if (made === undefined) throw toAzureError(response, change.what);
  return made;
}

/** Returns the version that the change has made although no response says so. */
async function findEffect(client: AzureClient, change: BlobChange): Promise<AzureVersion | undefined> {
  try {
    const found = await headBlob(client, change.key, change.signal);
    return isEffect(found, change, Number.POSITIVE_INFINITY) ? (found ?? NONE) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the blob that was found is the result of the change, after this number of attempts. */
function isEffect(found: AzureHead | undefined, { writer }: BlobChange, attempts: number): boolean {
  return writer === undefined ? found === undefined && attempts > 1 : found?.metadata[WRITER] === writer;
}

function toHeaders(current: AzureHead | undefined): Record<string, string> {
  return current === undefined ? { "if-none-match": "*" } : { "if-match": current.etag };
}
