import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import type { AttributeChanges, Properties, StorageAttributes } from "../../contracts/storage-attributes.ts";
import { wait } from "../../platform/wait.ts";
import { changeProperties, NO_PROPERTIES } from "../properties.ts";
import { isKey, type ObjectLocation, toPropertiesKey } from "./keys.ts";
import type { TextObject, TextObjects } from "./text-objects.ts";

/** What the attributes of a storage need of its bucket. */
export interface PropertyBucket extends TextObjects {
  /**
   * Returns the location of a path.
   * @throws StorageError `not-found`
   */
  find(path: string): ObjectLocation;
  /** Returns what is at a location, without `hasProperties`. */
  look(location: ObjectLocation): Promise<StorageEntry | undefined>;
  removeObject(key: string): Promise<void>;
}

/** How often a change is tried again because others were faster. */
const MAX_ROUNDS = 100;
/** Longest wait before the second round, in milliseconds. It grows with each of the first rounds. */
const ROUND_MS = 20;
const GROWING_ROUNDS = 10;

/**
 * Creates the attributes of a storage in a bucket: properties in objects of their own, and no times.
 *
 * An object is only ever replaced, by a condition on its version, so that no change is lost. Without properties it is
 * empty, since few stores remove with conditions. It is removed with the member.
 */
export function createObjectAttributes(bucket: PropertyBucket): StorageAttributes {
  async function properties(path: string): Promise<Properties> {
    const location = bucket.find(path);
    const [entry, found] = await Promise.all([bucket.look(location), read(toPropertiesKey(location))]);
    if (entry === undefined) throw new StorageError("not-found");
    return toProperties(found);
  }

  async function read(key: string): Promise<TextObject | undefined> {
    return isKey(key) ? bucket.readObject(key) : undefined;
  }

  async function change(path: string, changes: AttributeChanges): Promise<StorageEntry> {
    const location = bucket.find(path);
    const key = toPropertiesKey(location);
    if ((await bucket.look(location)) === undefined) throw new StorageError("not-found");
    if (changes.modified !== undefined) throw new StorageError("unsupported", "A bucket sets all times itself.");
    const { properties: wanted = new Map() } = changes;
    if (wanted.size > 0 && !isKey(key)) throw new StorageError("unsupported", "The path is too long for properties.");
    const changed = await exchange(key, wanted);
    const entry = await bucket.look(location);
    if (entry === undefined) {
      // It was removed meanwhile, maybe before the properties were stored.
      await bucket.removeObject(key);
      throw new StorageError("not-found");
    }
    return changed.size > 0 ? { ...entry, hasProperties: true } : entry;
  }

  async function exchange(key: string, wanted: NonNullable<AttributeChanges["properties"]>): Promise<Properties> {
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const current = await read(key);
      const before = toProperties(current);
      const changed = changeProperties(before, wanted);
      const isSame = wanted.size === 0 || (before.size === 0 && changed.size === 0);
      if (isSame || (await bucket.writeObject(key, toText(changed), current)) !== undefined) return changed;
      const most = ROUND_MS * Math.min(round, GROWING_ROUNDS);
      await wait(Math.random() * most);
    }
    throw new StorageError("unavailable", `${key}: other clients keep changing it`);
  }

  return { properties, change };
}

function toText(properties: Properties): string {
  return properties.size === 0 ? "" : JSON.stringify(Object.fromEntries(properties));
}

function toProperties({ text }: Pick<TextObject, "text"> = { text: "" }): Properties {
  if (text === "") return NO_PROPERTIES;
  const properties = parse(text);
  if (properties === undefined) throw new StorageError("unavailable", "An object of the properties is not valid.");
  return properties;
}

function parse(text: string): Properties | undefined {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
    const entries: [string, unknown][] = Object.entries(found);
    return entries.every(isProperty) ? new Map(entries) : undefined;
  } catch {
    return undefined;
  }
}

function isProperty(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === "string";
}
