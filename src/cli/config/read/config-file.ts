import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createFailure, describeSystemError } from "../../failure.ts";
import { toConfigFailure } from "../context.ts";
import { describeIssues } from "../issues.ts";
import { type ConfigFile, configFileSchema } from "../schema.ts";
import { parseConfigText } from "./config-text.ts";
import { readSecrets } from "./secrets.ts";

/** Reads and checks a configuration file; its paths stay as they are. Rejects with a failure of status 2. */
export async function readConfig(file: string): Promise<ConfigFile> {
  const sources = { file, environment: process.env, toPath: toResolver(file) };
  return checkConfig(file, await readSecrets(await readParsedFile(file), sources));
}

/** Checks the content of a configuration file, with its secrets. Throws a failure of status 2. */
export function checkConfig(file: string, content: unknown): ConfigFile {
  const parsed = configFileSchema.safeParse(content);
  if (!parsed.success) throw toConfigFailure({ file, problems: describeIssues(parsed.error) });
  return parsed.data;
}

/** Resolves relative paths from the folder of the configuration file. */
export function toResolver(file: string): (path: string) => string {
  const folder = dirname(resolve(file));
  return (path) => resolve(folder, path);
}

/** Reads a JSON file, or YAML by its name. Rejects with a failure of status 2. */
export async function readParsedFile(file: string): Promise<unknown> {
  try {
    return await parseConfigText(file, await readFile(file));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : `cannot be read: ${describeSystemError(error)}`;
    throw createFailure(2, [`${file}: ${reason}`]);
  }
}
