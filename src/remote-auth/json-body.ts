import type { z } from "zod";
import { parseBoundedJson } from "../http/bounded-json.ts";
import { mediaType } from "../http/negotiate.ts";
import { decodeUtf8 } from "../platform/utf8.ts";

/** JSON that was understood, or what is wrong with it: places and reasons in English, never values. */
export type JsonReading<T> = { readonly value: T } | { readonly problems: readonly string[] };

/** Places that are named of one body, at most; the others are counted. */
const maxProblems = 100;
/** A schema takes microseconds to complain of a value: of a whole body of wrong ones it would hold the thread for seconds. */
const maxValues = 20_000;

/** Whether a `Content-Type` value is JSON that may be in UTF-8: another charset, or a malformed one, is not. */
export function isJson(contentType: string | null): boolean {
  if (mediaType(contentType) !== "application/json") return false;
  const [, ...parameters] = (contentType ?? "").split(";");
  return parameters.every((parameter) => {
    const [name, value] = parameter.split("=", 2).map((part) => part.trim().toLowerCase());
    return name !== "charset" || value === "utf-8" || value === '"utf-8"';
  });
}

/** Decodes UTF-8 strictly; `undefined` when the bytes are none, or begin with a byte order mark (RFC 8259 8.1). */
export function decodeBody(bytes: Uint8Array): string | undefined {
  const text = decodeUtf8(bytes);
  return text?.startsWith("\ufeff") ? undefined : text;
}

/** Reads a body by a closed schema; each thing that is wrong is named, e.g. `account.foo: unknown key`. */
export function readJson<T>(bytes: Uint8Array, schema: z.ZodType<T>): JsonReading<T> {
  const text = decodeBody(bytes);
  if (text === undefined) return { problems: ["the body is not in UTF-8, or begins with a byte order mark"] };
  const parsed = parseBoundedJson(text, { maxValues });
  if ("problem" in parsed) return { problems: [parsed.problem] };
  if (hasPrototypeKey(parsed.value)) return { problems: ["__proto__: unknown key"] };
  const result = schema.safeParse(parsed.value);
  return result.success ? { value: result.data } : { problems: describeIssues(result.error) };
}

/** What no schema sees in free-form JSON: a key `__proto__` is data here, and an attack wherever objects are copied (SECURITY 13). */
function hasPrototypeKey(root: unknown): boolean {
  const open = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) return true;
    for (const member of Object.values(value)) open.push(member);
  }
  return false;
}

function describeIssues({ issues }: z.ZodError): readonly string[] {
  const problems = issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys")
      return [`${toKeyPath(issue.path)}: ${issue.message.replace(/^[^:]*: /, "")}`];
    return issue.keys.map((key) => `${toKeyPath([...issue.path, key])}: unknown key`);
  });
  if (problems.length <= maxProblems) return problems;
  return [...problems.slice(0, maxProblems), `and ${problems.length - maxProblems} more`];
}

/** A place such as `account.virtual_folders[0]`; a key that is no word is quoted, and cut. */
function toKeyPath(path: readonly PropertyKey[]): string {
  const keyPath = path.reduce<string>((parent, key) => {
    if (typeof key === "number") return `${parent}[${key}]`;
    const name = String(key);
    if (/^\w{1,64}$/.test(name)) return parent === "" ? name : `${parent}.${name}`;
    return `${parent}[${JSON.stringify(name.slice(0, 64))}]`;
  }, "");
  return keyPath === "" ? "the body" : keyPath;
}
