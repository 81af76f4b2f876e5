import { OptionError } from "../contracts/option-error.ts";

/** The metadata of uploads: the header that carries it, and the keys that it may have (4.4, CONTRACT 5). */
export interface MetadataFields {
  /** The name of the header, for example `X-Labels`. */
  readonly header: string;
  /** Whether an upload without the header is refused. Default: false. */
  readonly required?: boolean;
  /** The keys that the metadata may have. Default: any. */
  readonly keys?: readonly MetadataKey[];
}

/** A key of the metadata, or a group of keys with the same prefix. */
export interface MetadataKey {
  /** The key, or a prefix of keys followed by `*`, for example `project-*`. */
  readonly name: string;
  /** Whether the header of an upload must have it. Default: false. */
  readonly required?: boolean;
}

/** {@link MetadataFields}, checked and with defaults. */
export interface MetadataRules {
  readonly header: string;
  readonly isRequired: boolean;
  /** Absent if any key is allowed. */
  readonly keys?: readonly MetadataKeyRule[];
}

/** {@link MetadataKey}, checked and with defaults. */
export interface MetadataKeyRule {
  /** The name as the operator wrote it. */
  readonly name: string;
  readonly isRequired: boolean;
  matches(key: string): boolean;
}

/** Headers with secrets. Metadata appears in events, so these are not allowed. */
const SECRET_HEADERS = ["authorization", "proxy-authorization", "cookie"];
const REQUIREMENTS = ["required", "optional"];

/**
 * Parses `metadata_fields`, which is an object or a text (4.4, CONTRACT 5). The simple form of the text is the name of
 * a header. The list form has one line for the header and one for each key. Each line ends with `required` or
 * `optional`, after a comma or blanks. The first line may have neither, and the header is optional then. Empty lines
 * are ignored.
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
    if (isRequired === undefined) fail(`lines with "required" or "optional" after every key; ${name} has neither`);
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

/** Whether a value is an object without unknown members: an ignored member could be one that requires something. */
function isObject(value: unknown, members: readonly string[]): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.keys(value).every((name) => members.includes(name));
}

function toRules({ header, required = false, keys }: MetadataFields): MetadataRules {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(header)) fail(`given with the name of a header: ${header}`);
  if (SECRET_HEADERS.includes(header.toLowerCase())) fail(`the name of a header without secrets, not ${header}`);
  const names = keys?.map(({ name }) => name) ?? [];
  if (new Set(names).size < names.length) fail("given with each key only once");
  return { header, isRequired: required, ...(keys !== undefined && { keys: keys.map(toKeyRule) }) };
}

function toKeyRule({ name, required = false }: MetadataKey): MetadataKeyRule {
  const prefix = name.endsWith("*") ? name.slice(0, -1) : undefined;
  if (name === "" || /[*,]/.test(prefix ?? name))
    fail(`given with keys that have a name without commas, and "*" only at the end: ${name}`);
  return {
    name,
    isRequired: required,
    matches: prefix === undefined ? (key) => key === name : (key) => key.startsWith(prefix),
  };
}

function fail(expected: string): never {
  throw new OptionError("metadataFields", expected);
}
