/** A time to live, in milliseconds, that no case outlasts. */
export const minute = 60_000;

export const jsonValues: readonly unknown[] = [
  "",
  "text",
  '{"looks":"like JSON"}',
  '"quoted"',
  "null",
  "1",
  "ünïcödé 文件 🚢 \u0000 \u2028 \" \\ '",
  0,
  -1.5,
  Number.MAX_SAFE_INTEGER,
  true,
  false,
  [],
  {},
  [1, [2, [null]], { three: 3 }],
  { nested: { list: [1, "2", null, false], "": "empty key", "a.b": "dot" }, null: null },
];

/** Texts of which no two are the same, though a store might take them for it. */
export const oddTexts: readonly string[] = [
  "",
  " ",
  "text",
  "Text",
  "text ",
  '"text"',
  "null",
  "undefined",
  "0",
  "0.0",
  "00",
  "true",
  "{}",
  '{"looks":"like JSON"}',
  '{ "looks": "like JSON" }',
  '"\\u00e4"',
  "\u00e4",
  "a\u0308",
  "\u{1f6a2}",
  "\ud83d",
  "\ufffd",
  "text\u0000",
  "text\u0000more",
  "line\nline",
  "line\r\nline",
  "'; --",
  "%",
  "?",
];

export const oddEndings = ["", "A", "a", "a ", " a", ":", "::", "*", "?", "%41", "/../x", "ä", "a\u0308", "'; --"];

/** Returns a random key, so that cases on a persistent store do not see entries of each other or of an earlier run. */
export function freshKey(): string {
  return `fileferry-case:${crypto.randomUUID()}:`;
}

export function expectValue(actual: unknown, expected: unknown): void {
  if (!isEqual(actual, expected)) throw new Error(`Expected ${show(expected)}, got ${show(actual)}`);
}

export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [leftEntries, rightKeys] = [Object.entries(left), Object.keys(right)];
  return (
    leftEntries.length === rightKeys.length &&
    leftEntries.every(([key, value]) => Object.hasOwn(right, key) && isEqual(value, (right as never)[key]))
  );
}

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
