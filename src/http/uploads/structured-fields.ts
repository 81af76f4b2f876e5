import { type BareItem, parseItem } from "structured-headers";

/** A field that is an Item with an Integer. */
export type IntegerField = "upload-offset" | "upload-length" | "upload-draft-interop-version";

/** The largest integer of a structured field (RFC 9651 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;
/** The value of an integer in a field, before its parameters. `structured-headers` takes `1.0` for one, too. */
const INTEGER = /^ *-?\d+ *(?:;|$)/;

/**
 * Reads a field that is an Item with a Boolean (RFC 9651 3.3.6). Returns `undefined` if the field is absent, comes
 * several times, or is anything else.
 */
export function readBoolean(headers: Headers, name: "upload-complete"): boolean | undefined {
  const item = readItem(headers.get(name));
  return typeof item === "boolean" ? item : undefined;
}

/** The same for an Item with an Integer that is not negative (RFC 9651 3.3.1). */
export function readInteger(headers: Headers, name: IntegerField): number | undefined {
  const value = headers.get(name);
  const item = readItem(value);
  if (typeof item !== "number" || item < 0 || !INTEGER.test(value ?? "")) return undefined;
  // `-0` is an integer of 0.
  return Math.abs(item);
}

function readItem(value: string | null): BareItem | undefined {
  if (value === null) return undefined;
  try {
    return parseItem(value)[0];
  } catch {
    return undefined;
  }
}

/** Writes an Item with a Boolean. */
export function toBooleanItem(value: boolean): string {
  return value ? "?1" : "?0";
}

/** Writes a Dictionary of integers from 0 on, without absent ones. Integers that are too large become the largest. */
export function toIntegerDictionary(members: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(members)
    .flatMap(([key, value]) => (value === undefined ? [] : `${key}=${Math.min(value, MAX_INTEGER)}`))
    .join(", ");
}
