import type { AtomicKeyValueStore } from "../contracts/atomic-store.ts";
import { checkOption, isWholeNumber } from "../contracts/option-error.ts";
import type { DurableObjectNamespace } from "./durable-object/binding.ts";
import type { StoreCall, StoreResult } from "./durable-object/calls.ts";
import { toEntryText, toReplacement } from "./entry-text.ts";

export type {
  DurableObjectNamespace,
  DurableObjectReply,
  DurableObjectState,
  DurableObjectStorage,
  DurableObjectStub,
  SqlCursor,
  SqlStorage,
} from "./durable-object/binding.ts";
export { FileferryStore } from "./durable-object/object.ts";

/** Options of {@link createDurableObjectStore}. */
export interface DurableObjectStoreOptions {
  /** The beginning of the objects' names. Services with the same name share their sessions. Default: `fileferry`. */
  readonly name?: string;
  /**
   * The number of objects that share the keys, at most 1000. One object handles some hundred calls per second. A change
   * of this number moves keys to other objects: their entries are lost. Default: 1.
   */
  readonly objects?: number;
}

/**
 * A store in Durable Objects of the class {@link FileferryStore}, for Workers. Every location sees a change
 * immediately, and the step of `replace` is atomic among all of them. Methods reject as the binding does.
 * @throws OptionError
 */
export function createDurableObjectStore(
  namespace: DurableObjectNamespace,
  options: DurableObjectStoreOptions = {},
): AtomicKeyValueStore {
  const { name = "fileferry", objects = 1 } = options;
  checkOption(isNamespace(namespace), "namespace", "a binding of Durable Objects");
  checkOption(typeof name === "string" && name !== "", "name", "a text that is not empty");
  checkOption(isWholeNumber(objects, 1, 1000), "objects", "a whole number from 1 to 1000");

  async function send(call: StoreCall): Promise<unknown> {
    const id = namespace.idFromName(`${name}:${hash(call.key) % objects}`);
    // A new stub each time: after one failure a stub always fails. The host is never resolved.
    const response = await namespace.get(id).fetch("https://store/", { method: "POST", body: JSON.stringify(call) });
    const { result } = (await response.json()) as StoreResult;
    return result;
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    toEntryText(value, ttlMilliseconds);
    await send({ method: "set", key, value, ttlMilliseconds });
  }

  async function replace(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    ttlMilliseconds: number,
  ): Promise<boolean> {
    toReplacement(expected, next, ttlMilliseconds);
    return (await send({ method: "replace", key, expected, next, ttlMilliseconds })) === true;
  }

  return { get: (key) => send({ method: "get", key }), set, delete: (key) => send({ method: "delete", key }), replace };
}

/** FNV-1a: distributes keys over objects, and never changes. */
function hash(key: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    value = Math.imul(value ^ key.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** Checks the methods one by one: a binding is an object of a runtime's class, or a proxy. */
function isNamespace(namespace: DurableObjectNamespace | undefined): namespace is DurableObjectNamespace {
  return typeof namespace?.idFromName === "function" && typeof namespace.get === "function";
}
