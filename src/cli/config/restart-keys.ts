import { toKeyPath } from "./issues.ts";
import { isSecretKey } from "./read/secrets.ts";
import type { AuthenticationEntry, ConfigFile } from "./schema.ts";

/** Keys that count at once, are compared elsewhere, or are for editors. */
const OTHERS: readonly string[] = ["authentication", "$schema"];

/**
 * The keys that differ between the configuration of a running service and a later version of its file, such as
 * `metrics.port`: only a restart makes them count. A list is one key.
 */
export function findRestartKeys(used: ConfigFile, next: ConfigFile): readonly string[] {
  return findDifferences(used, next).filter((key) => !OTHERS.includes(key.split(".", 1)[0] ?? ""));
}

function findDifferences(used: unknown, next: unknown): readonly string[] {
  if (!isRecord(used) || !isRecord(next)) return [];
  const keys = [...new Set([...Object.keys(used), ...Object.keys(next)])];
  return keys.flatMap((key) => {
    const [one, other] = [used[key], next[key]];
    if (isRecord(one) && isRecord(other)) return findDifferences(one, other).map((inner) => `${key}.${inner}`);
    return JSON.stringify(one) === JSON.stringify(other) ? [] : [key];
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The methods without accounts and secrets: a secret may be rotated without a change of the configuration. */
export function toShape(methods: readonly AuthenticationEntry[]): string {
  return JSON.stringify(withoutAccounts(methods), (key, value) => (isSecretKey(key, false) ? null : value));
}

/** The keys of secrets that differ between methods of one shape, such as `authentication[1].password`. */
export function findChangedSecrets(
  used: readonly AuthenticationEntry[],
  next: readonly AuthenticationEntry[],
): readonly string[] {
  return compareSecrets(withoutAccounts(used), withoutAccounts(next), ["authentication"]);
}

function compareSecrets(used: object, next: object, path: readonly (string | number)[]): readonly string[] {
  return Object.entries(next).flatMap(([key, value]: [string, unknown]) => {
    const before = (used as Readonly<Record<string, unknown>>)[key];
    const own = [...path, Array.isArray(next) ? Number(key) : key];
    if (isSecretKey(key, false)) return JSON.stringify(before) === JSON.stringify(value) ? [] : [toKeyPath(own)];
    return value instanceof Object ? compareSecrets(before as object, value, own) : [];
  });
}

/** The methods without their accounts, which may change while the service runs. */
function withoutAccounts(methods: readonly AuthenticationEntry[]): readonly object[] {
  return methods.map((entry) => ("accounts" in entry ? { ...entry, accounts: [] } : entry));
}
