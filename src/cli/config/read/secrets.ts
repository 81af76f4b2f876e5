import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { decodeUtf8 } from "../../../platform/utf8.ts";
import { createFailure, describeSystemError } from "../../failure.ts";
import { toKeyPath } from "../issues.ts";

/** Keys whose values may be secrets. Others may have `${USER}` and `${SHARED}`, which are not of the environment. */
const SECRET_KEYS: readonly string[] = [
  "password",
  "secret",
  "clientSecret",
  "cookieSecret",
  "headers",
  "store",
  "lockStore",
  "username",
];

/** Whether the value of a key may be a secret. `key` is one in the storage; in `listen.tls` it names a file. */
export function isSecretKey(key: string, isInStorage: boolean): boolean {
  return SECRET_KEYS.includes(key) || (key === "key" && isInStorage);
}

/** Keys whose members have names of the operator's choice, and no secrets. */
const NAMING_KEYS: readonly string[] = ["groups", "triggers"];
const MAX_BYTES = 65_536;
/** Opening a pipe must not wait for its writer. Windows does not have the flag. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const VARIABLE = /\$(\$?)\{([^}]*)\}/g;

/** What secrets are read with. */
export interface SecretSources {
  /** The name of the configuration, which begins each problem. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  toPath(path: string): string;
}

/**
 * Replaces secrets of a parsed configuration: `${NAME}` in a text by a variable of the environment (`$${` is `${`), and
 * `{ "file": "/run/secrets/x" }` by the content of the file without the line break at its end. Rejects with a failure
 * of status 2, which names keys, variables and files, and never a value; also if a secret is empty.
 */
export async function readSecrets(value: unknown, sources: SecretSources): Promise<unknown> {
  const problems: string[] = [];

  async function read(part: unknown, path: readonly (string | number)[], isInSecret = false): Promise<unknown> {
    if (NAMING_KEYS.includes(String(path[0]))) return part;
    const isSecret = isInSecret || isSecretKey(String(path.at(-1)), path[0] === "storage");
    if (isSecret && typeof part === "string") return fill(part, path);
    if (isSecret && hasFile(part)) return readOnlyFile(part, path);
    if (Array.isArray(part)) return Promise.all(part.map((member, index) => read(member, [...path, index], isSecret)));
    if (typeof part !== "object" || part === null) return part;
    const members = Object.entries(part).map(async ([key, member]) => [
      key,
      await read(member, [...path, key], isSecret),
    ]);
    return Object.fromEntries(await Promise.all(members));
  }

  function fill(text: string, path: readonly (string | number)[]): string {
    return text.replace(VARIABLE, (given: string, escaped: string, name: string) => {
      if (escaped !== "") return given.slice(1);
      const found = sources.environment[name] ?? "";
      if (found === "") problems.push(`${toKeyPath(path)}: ${describeMissing(name, sources)}`);
      return found;
    });
  }

  async function readOnlyFile({ file, ...others }: FileSecret, path: readonly (string | number)[]): Promise<string> {
    for (const key of Object.keys(others)) problems.push(`${toKeyPath([...path, key])}: unknown key`);
    return readContent(file, path);
  }

  async function readContent(file: string, path: readonly (string | number)[]): Promise<string> {
    try {
      return await readSmallFile(sources.toPath(file));
    } catch (error) {
      problems.push(`${toKeyPath([...path, "file"])}: ${describeSystemError(error)}`);
      return "";
    }
  }

  const complete = await read(value, []);
  if (problems.length === 0) return complete;
  throw createFailure(
    2,
    problems.map((problem) => `${sources.file}: ${problem}`),
  );
}

function describeMissing(name: string, { environment }: SecretSources): string {
  if (!/^\w+$/.test(name)) return "has an invalid name in braces";
  return environment[name] === undefined
    ? `the environment does not have ${name}`
    : `${name} of the environment is empty`;
}

/** A secret that is the content of a file. Other members are unknown. */
interface FileSecret {
  readonly file: string;
}

function hasFile(part: unknown): part is FileSecret {
  return typeof part === "object" && part !== null && "file" in part && typeof part.file === "string";
}

async function readSmallFile(path: string): Promise<string> {
  const handle = await open(path, READ_FLAGS);
  try {
    if (!(await handle.stat()).isFile()) throw new Error("is not a regular file");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
    if (bytesRead > MAX_BYTES) throw new Error(`has more than ${MAX_BYTES} bytes`);
    const text = decodeUtf8(buffer.subarray(0, bytesRead), "remove")?.replace(/\r?\n$/, "");
    if (text === undefined) throw new Error("is not valid UTF-8");
    if (text === "") throw new Error("is empty");
    return text;
  } finally {
    await handle.close();
  }
}
