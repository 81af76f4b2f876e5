import { OptionError } from "../contracts/option-error.ts";

/** The metadata of uploads: which header carries it, and what is expected in it (4.4, CONTRACT 5). */
export interface MetadataFields {
  /** Name of the header, e.g. `X-Labels`. */
  readonly header: string;
  /** Whether an upload without it is refused. Default: false. */
  readonly required?: boolean;
  /** The keys that it may have. Default: any. */
  readonly keys?: readonly MetadataKey[];
}

/** A key of the metadata. */
export interface MetadataKey {
  /** The key, or the begin of keys with a `*` behind it, e.g. `project-*`. */
  readonly name: string;
  /** Whether the header of an upload must have it. Default: false. */
  readonly required?: boolean;
}

/** The same, checked and complete. */
export interface MetadataRules {
  readonly header: string;
  readonly isRequired: boolean;
  /** Absent: any key. */
  readonly keys?: readonly MetadataKeyRule[];
}

/** A key, or all with the same begin. */
export interface MetadataKeyRule {
  /** As it is written. */
  readonly name: string;
  readonly isRequired: boolean;
  matches(key: string): boolean;
}

/** What is in these must stand in no event. */
const SECRET_HEADERS = ["authorization", "proxy-authorization", "cookie"];
const REQUIREMENTS = ["required", "optional"];

/**
 * Reads `metadata_fields`: an object, or text. In the simple form that is the name of a header; in the list form a line for the header and one for each key, each
 * with `required` or `optional` behind it, after a comma or blanks; the first one may have neither and is optional then (4.4, CONTRACT 5). Empty lines count for nothing.
 * @throws TypeError naming what is wrong.
 */
export function parseMetadataFields(fields: MetadataFields | string): MetadataRules {
  return toRules(typeof fields === "string" ? parseText(fields) : checkObject(fields));
}

function parseText(text: string): MetadataFields {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  const [first, ...others] = lines.filter((line) => line !== "").map(parseLine);
  if (first === undefined) fail("the name of a header, or lines of names");
  const { name: header, required } = first;
  if (others.length === 0) return { header, required: required ?? false };
  const keys = others.map(({ name, required: isRequired }) => {
    if (isRequired === undefined) fail(`lines with "required" or "optional" after each key, which ${name} has not`);
    return { name, required: isRequired };
  });
  return { header, required: required ?? false, keys };
}

function parseLine(line: string): { readonly name: string; readonly required?: boolean } {
  const [name = "", requirement, ...rest] = line.split(/[ \t]*,[ \t]*|[ \t]+/);
  if (requirement === undefined) return { name };
  if (rest.length > 0 || !REQUIREMENTS.includes(requirement))
    fail(`lines of a name and "required" or "optional": ${line}`);
  return { name, required: requirement === "required" };
}

function checkObject(fields: unknown): MetadataFields {
  if (!isObject(fields, ["header", "required", "keys"])) fail("text, or an object of header, required and keys");
  const { header, required, keys } = fields;
  const areKeys = keys === undefined || (Array.isArray(keys) && keys.every(isKey));
  if (typeof header !== "string" || !isFlag(required) || !areKeys)
    fail("an object with a header, and keys with a name each");
  return fields as unknown as MetadataFields;
}

function isKey(key: unknown): boolean {
  return isObject(key, ["name", "required"]) && typeof key.name === "string" && isFlag(key.required);
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === "boolean";
}

/** An object of these members at most: one that is ignored could be one that requires something. */
function isObject(value: unknown, members: readonly string[]): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.keys(value).every((name) => members.includes(name));
}

function toRules({ header, required = false, keys }: MetadataFields): MetadataRules {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(header)) fail(`given with the name of a header: ${header}`);
  if (SECRET_HEADERS.includes(header.toLowerCase())) fail(`given with a header that holds no secrets: ${header}`);
  const names = keys?.map(({ name }) => name) ?? [];
  if (new Set(names).size < names.length) fail("given with each key only once");
  return { header, isRequired: required, ...(keys !== undefined && { keys: keys.map(toKeyRule) }) };
}

function toKeyRule({ name, required = false }: MetadataKey): MetadataKeyRule {
  const begin = name.endsWith("*") ? name.slice(0, -1) : undefined;
  if (name === "" || /[*,]/.test(begin ?? name))
    fail(`given with keys that have a name without commas, and "*" only at the end: ${name}`);
  return {
    name,
    isRequired: required,
    matches: begin === undefined ? (key) => key === name : (key) => key.startsWith(begin),
  };
}

function fail(expected: string): never {
  throw new OptionError("metadataFields", expected);
}
