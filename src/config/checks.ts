/** Whether a value is a whole number above 0. */
export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** Whether a value is a number above 0. */
export function isPositive(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

/** Whether a value is an object, an array included. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a value is a key-value store, or `undefined`. */
export function isStore(value: unknown): boolean {
  return value === undefined || hasMethods(value, ["get", "set", "delete"]);
}

/** Whether a value is an object with methods of these names. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}

/** Whether a value is a token, such as the name of a header (RFC 9110 5.6.2). */
export function isHttpToken(value: unknown): value is string {
  return typeof value === "string" && /^[!#$%&'*+.^_`|~\w-]+$/.test(value);
}
