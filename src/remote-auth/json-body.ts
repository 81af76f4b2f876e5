import type { z } from "zod";
import { parseBoundedJson } from "../http/bounded-json.ts";
import { mediaType } from "../http/negotiate.ts";
import { decodeUtf8 } from "../platform/utf8.ts";

/** Parsed JSON, or its problems in English. They name places and reasons, never values. */
export type JsonReading<T> = { readonly value: T } | { readonly problems: readonly string[] };

/** Maximum number of problems that are listed for one body; further ones are counted. */
const maxProblems = 100;
/** A schema takes microseconds to report a wrong value: a body full of them would block the thread for seconds. */
const maxValues = 20_000;

/** Whether a `Content-Type` value is JSON in UTF-8. It is not if it names another charset or is malformed. */
export function isJson(contentType: string | null): boolean {
  if (mediaType(contentType) !== "application/json") return false;
  const [, ...parameters] = (contentType ?? "").split(";");
  return parameters.every((parameter) => {
    const [name, value] = parameter.split("=", 2).map((part) => part.trim().toLowerCase());
    return name !== "charset" || value === "utf-8" || value === '"utf-8"';
  });
}

/** Decodes a body in UTF-8; `undefined` if it is not valid UTF-8, or begins with a byte order mark (RFC 8259 8.1). */
export function decodeBody(bytes: Uint8Array): string | undefined {
  const text = decodeUtf8(bytes);
  return text?.startsWith("\ufeff") ? undefined : text;
}

/** Parses a body by a schema. Each problem is listed, such as `account.foo: unknown key`. */
export function parseJsonBody<T>(bytes: Uint8Array, schema: z.ZodType<T>): JsonReading<T> {
  const text = decodeBody(bytes);
  if (text === undefined) return { problems: ["the body is not in UTF-8, or begins with a byte order mark"] };
  const parsed = parseBoundedJson(text, { maxValues });
  if ("problem" in parsed) return { problems: [parsed.problem] };
  if (hasPrototypeKey(parsed.value)) return { problems: ["__proto__: unknown key"] };
  const result = schema.safeParse(parsed.value);
  return result.success ? { value: result.data } : { problems: describeIssues(result.error) };
}

/**
 * Whether free-form JSON has a key `__proto__`, which schemas do not see. Here it is data, but it is an attack wherever
 * objects are copied (SECURITY 13).
 */
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

/** A path such as `account.virtual_folders[0]`. A key that is not a word is quoted and shortened. */
function toKeyPath(path: readonly PropertyKey[]): string {
  const keyPath = path.reduce<string>((parent, key) => {
    if (typeof key === "number") return `${parent}[${key}]`;
    const name = String(key);
    if (/^\w{1,64}$/.test(name)) return parent === "" ? name : `${parent}.${name}`;
    return `${parent}[${JSON.stringify(name.slice(0, 64))}]`;
  }, "");
  return keyPath === "" ? "the body" : keyPath;
}
