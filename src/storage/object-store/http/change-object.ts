import { hasCode, StorageError, type WriteOptions } from "../../../contracts/storage-adapter.ts";
import { wait } from "../../../platform/wait.ts";
import { hasConditions, meetsConditions } from "../../conditions.ts";
import { isSuccessful, type StoreResponse } from "./client.ts";

/** One change of one key. */
export interface ObjectChange {
  readonly key: string;
  /** Mark that this change gives to its object. A removal has none. */
  readonly writer?: string;
  readonly conditions: Pick<WriteOptions, "ifMatch" | "ifNoneMatch">;
  /** The caller has just seen that there is no object. */
  readonly isKnownToBeFree?: true;
  /** Ends the change before a request for it is sent. A request that was sent may have made it already. */
  readonly signal?: AbortSignal | undefined;
  /** Description for the log. */
  readonly what: string;
  /** Sends the change with these headers. */
  send(headers: Readonly<Record<string, string>>): Promise<StoreResponse>;
}

/** What is known about an object that a change finds. */
export interface MarkedObject {
  /** Entity-tag with quotes. */
  readonly etag: string;
  /** Mark of the write that created the object; `undefined` if other software created it. */
  readonly writer: string | undefined;
}

/** How a store is asked for a change. One is created for each change, so it may learn from refusals. */
export interface ChangeProtocol<Found extends MarkedObject> {
  /** Returns a random number from 0 to below 1. */
  random(): number;
  look(key: string, signal: AbortSignal | undefined): Promise<Found | undefined>;
  /**
   * Returns the headers by which the store makes the change only if the object is still this one, or is still missing.
   * Returns `undefined` if the store does not support such conditions.
   */
  toHeaders(current: Found | undefined): Readonly<Record<string, string>> | undefined;
  /** Whether the store refused a change with these headers because of them, so that another look may help. */
  isConditionRefusal(response: StoreResponse, current: Found | undefined): boolean;
  toError(response: StoreResponse, what: string): StorageError;
}

/** What a change has resulted in: the response of the store or, if it was lost, the object that was found. */
export type ChangeResult<Found> =
  | { readonly response: StoreResponse; readonly found?: undefined }
  | { readonly response?: undefined; readonly found: Found | undefined };

/** Maximum number of attempts when others change the key at the same time. */
const MAX_ROUNDS = 12;
const ROUND_MS = 50;

/**
 * Changes a key if its object meets the conditions.
 *
 * Each round looks at the object and checks the conditions. Then it lets the store make the change only if the object
 * is still the same, or still missing. In this way any list of tags becomes one condition that stores support. If the
 * store refuses it, the next round looks again. If the store does not support conditions, only the check just before
 * the change remains.
 *
 * If the response to a write is lost, the write recognizes its object by its mark. A removal that was sent more than
 * once succeeded if nothing is left.
 * @throws StorageError `precondition-failed`, or the error that the store's response maps to.
 */
export async function changeObject<Found extends MarkedObject>(
  change: ObjectChange,
  protocol: ChangeProtocol<Found>,
): Promise<ChangeResult<Found>> {
  const { key, conditions, signal, what } = change;

  async function changeIfUnmodified(): Promise<ChangeResult<Found>> {
    let attempts = 0;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const current = await look(round);
      if (attempts > 0 && isEffect(current, change, attempts)) return { found: current };
      if (!meetsConditions(current?.etag, conditions)) throw new StorageError("precondition-failed", what);
      const headers = protocol.toHeaders(current);
      const result = await sendOnce(headers ?? {});
      const { response } = result;
      if (response === undefined || isSuccessful(response)) return result;
      if (headers === undefined || !protocol.isConditionRefusal(response, current)) return refuse(response);
      attempts = response.attempts;
    }
    throw new StorageError("unavailable", `${what}: other clients keep changing it`);
  }

  async function changeAnything(): Promise<ChangeResult<Found>> {
    const result = await sendOnce({});
    const { response } = result;
    return response === undefined || isSuccessful(response) ? result : refuse(response);
  }

  async function look(round: number): Promise<Found | undefined> {
    if (round === 0 && change.isKnownToBeFree) return undefined;
    if (round > 1) await wait(protocol.random() * ROUND_MS * round);
    return protocol.look(key, round === 0 ? signal : undefined);
  }

  /** Sends the change once. If no response arrives, looks whether the change was made. */
  async function sendOnce(headers: Readonly<Record<string, string>>): Promise<ChangeResult<Found>> {
    signal?.throwIfAborted();
    try {
      return { response: await change.send(headers) };
    } catch (error) {
      const effect = hasCode(error, "unavailable") ? await findEffect() : undefined;
      if (effect === undefined) throw error;
      return effect;
    }
  }

  /** Throws the error of a response, unless an earlier attempt made the change. */
  async function refuse(response: StoreResponse): Promise<ChangeResult<Found>> {
    const mayBeDone = response.attempts > 1 || response.status >= 500;
    const effect = mayBeDone ? await findEffect() : undefined;
    if (effect === undefined) throw protocol.toError(response, what);
    return effect;
  }

  /** Looks whether the change was made although no response says so. `undefined` if not, or if it is unknown. */
  async function findEffect(): Promise<ChangeResult<Found> | undefined> {
    try {
      const found = await protocol.look(key, undefined);
      return isEffect(found, change, Number.POSITIVE_INFINITY) ? { found } : undefined;
    } catch {
      return undefined;
    }
  }

  return hasConditions(conditions) ? changeIfUnmodified() : changeAnything();
}

/** Whether what was found is the result of the change, after this number of attempts. */
function isEffect(found: MarkedObject | undefined, { writer }: ObjectChange, attempts: number): boolean {
  return writer === undefined ? found === undefined && attempts > 1 : found?.writer === writer;
}
