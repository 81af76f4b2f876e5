import { toConfigJsonSchema } from "../src/cli/config/json-schema.ts";

/** The parts of a JSON Schema that lead to the keys of a file. */
interface Schema {
  description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

const TABLE = /^\| ([^|]+) \|.*\| default \|\n\|[-|]+\|\n((?:\|.*\|\n)+)/gm;

/** Where in the file the keys of a table are, by the heading of its first column. */
const PLACES: ReadonlyMap<string, readonly string[]> = new Map([
  ["key", [""]],
  ["key of an `http` method", ["authentication."]],
  ["setting", ["groups.<name>.", "anonymous.", "authentication.accounts.", "authentication.account."]],
]);

/** The schema of the configuration file, with the descriptions that the tables of `docs/command.md` have. */
export function toDescribedSchema(page: string): object {
  const schema: Schema = toConfigJsonSchema();
  for (const [, heading = "", rows = ""] of page.matchAll(TABLE)) {
    const meanings = rows.trimEnd().split("\n").flatMap(readRow);
    for (const place of PLACES.get(heading) ?? []) {
      describeKeys(schema, new Map(meanings.map(([path, meaning]) => [place + path, meaning])));
    }
  }
  return schema;
}

/** Reads a row, in which `listen.tls.key`, `.cert` are two keys with one meaning. */
function readRow(row: string): readonly (readonly [path: string, meaning: string])[] {
  const [keys = "", meaning = "", ...others] = row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
  const paths = [...keys.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
  const fallback = paths.length === 1 ? others.at(-1) : "";
  const text = toSentence(meaning) + (fallback ? ` ${toDefault(fallback)}` : "");
  return paths.map((path) => [path.startsWith(".") ? toParent(paths[0] ?? "") + path : path, text]);
}

function toDefault(fallback: string): string {
  return fallback === "required" ? "Required." : `Default: ${toSentence(fallback, false)}`;
}

/** Leaves out the marks of links and code, which editors would show as they are. */
function toSentence(markdown: string, isFirst = !markdown.startsWith("`")): string {
  const text = markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return `${isFirst ? text.charAt(0).toUpperCase() + text.slice(1) : text}.`;
}

function toParent(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("."), 0));
}

function describeKeys(schema: Schema, meanings: ReadonlyMap<string, string>): void {
  for (const [path, description] of meanings) {
    const parent = toParent(path);
    const siblings = [...meanings.keys()].filter((other) => toParent(other) === parent).map(toName);
    for (const { properties = {} } of findObjects(schema, parent)) {
      // A storage is of several kinds, which share some names: a table is that of the kind with most of its keys.
      const isMeant = 2 * siblings.filter((name) => name in properties).length >= siblings.length;
      const key = properties[toName(path)];
      if (isMeant && key !== undefined) key.description = description;
    }
  }
}

function toName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** The objects at a path: several, where a key has several forms. */
function findObjects(schema: Schema, path: string): readonly Schema[] {
  return path
    .split(".")
    .filter((name) => name !== "")
    .reduce<readonly Schema[]>(
      (objects, name) => objects.flatMap((object) => toForms(toMember(object, name))),
      [schema],
    );
}

function toMember({ properties, additionalProperties }: Schema, name: string): Schema {
  return (name === "<name>" ? additionalProperties || undefined : properties?.[name]) ?? {};
}

function toForms(schema: Schema): readonly Schema[] {
  const { anyOf = [], oneOf = [], items } = schema;
  return [schema, ...[...anyOf, ...oneOf, ...(items ? [items] : [])].flatMap(toForms)];
}
