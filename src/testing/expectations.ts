import { isStorageError, type StorageErrorCode } from "../contracts/storage-adapter.ts";

/**
 * Fails unless two values are equal: strings, numbers, dates, or lists and plain objects of them.
 * @throws Error that says what was compared, expected and found.
 */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: expected ${other}, found ${one}`);
}

/** Fails unless a condition holds. */
export function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Not so: ${what}`);
}

/** Fails unless a promise rejects with a `StorageError` that has one of these codes. */
export async function expectRefusal(promise: Promise<unknown>, ...codes: readonly StorageErrorCode[]): Promise<void> {
  const error = await rejectionOf(promise);
  const found = isStorageError(error) ? error.code : String(error);
  if (!codes.some((code) => code === found)) throw new Error(`Expected ${codes.join(" or ")}, found ${found}`);
}

/** Returns what a promise rejects with. Fails if it resolves. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const resolved = {};
  const outcome = await promise.then(
    () => resolved,
    (error: unknown) => error,
  );
  if (outcome === resolved) throw new Error("Expected a rejection, but it resolved");
  return outcome;
}
