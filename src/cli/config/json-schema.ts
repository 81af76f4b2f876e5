import * as z from "zod";
import { isSecretKey } from "./read/secrets.ts";
import { configFileSchema } from "./schema.ts";

/** Where a secret may come from in place of its text. */
const FROM_FILE = {
  type: "object",
  properties: { file: { type: "string" } },
  required: ["file"],
  additionalProperties: false,
};

/** The schema of the configuration file as JSON Schema 2020-12, for editors. What it cannot say, the command checks. */
export function toConfigJsonSchema(): object {
  const schema = z.toJSONSchema(configFileSchema, { io: "input", unrepresentable: "any", reused: "inline" });
  return { title: "The configuration of fileferry", ...(withFiles(schema) as object) };
}

/** The same schema, in which each text that is a secret may come from a file. */
function withFiles(schema: unknown, isSecret = false, isInStorage = false): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withFiles(part, isSecret, isInStorage));
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.entries(schema).map(([key, part]) => [
    key,
    withFiles(part, isSecret || isSecretKey(key, isInStorage), isInStorage || key === "storage"),
  ]);
  const complete = Object.fromEntries(parts);
  return isSecret && complete.type === "string" ? { anyOf: [complete, FROM_FILE] } : complete;
}
