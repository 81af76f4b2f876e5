import type { Metadata } from "../contracts/events/transfers.ts";
import { readFieldText } from "../http/header-text.ts";
import { HttpError } from "../http/http-error.ts";
import type { MetadataRules } from "./metadata-fields.ts";

/** A field of a record of RFC 4180, blanks around it left out, up to its comma or the end; it can match in one way only. */
const FIELD = /[ \t]*(?:"((?:[^"]|"")*)"[ \t]*|((?:[^",\t ][^",]*)?))(?:,|$)/y;

/**
 * Reads the metadata of an upload from its header (4.4, rule 4; CONTRACT 5); `undefined` without one.
 * @throws HttpError `malformed` where the header is missing, cannot be read, or has not the keys that it must have, or others than it may.
 */
export function readMetadata(headers: Headers, { header, isRequired, keys }: MetadataRules): Metadata | undefined {
  const value = headers.get(header);
  if (value === null) {
    if (isRequired) throw new HttpError("malformed", `The header ${header} is missing.`);
    return undefined;
  }
  const items = parseItems(toText(value, header), header);
  for (const rule of keys ?? []) {
    if (rule.isRequired && !items.some(([key]) => rule.matches(key))) {
      throw new HttpError("malformed", `The header ${header} does not have the key ${rule.name}.`);
    }
  }
  if (keys !== undefined && !items.every(([key]) => keys.some((rule) => rule.matches(key)))) {
    throw new HttpError("malformed", `The header ${header} has an unexpected key.`);
  }
  return toMetadata(items);
}

/** Here fields are UTF-8, as in all other texts of ours. */
function toText(value: string, header: string): string {
  const text = readFieldText(value);
  if (text === undefined) throw new HttpError("malformed", `The header ${header} is not valid UTF-8.`);
  return text;
}

function parseItems(text: string, header: string): readonly (readonly [key: string, value: string])[] {
  return parseRecord(text).map((item) => {
    const mark = item?.indexOf("=") ?? -1;
    // An empty key is none.
    if (item === undefined || mark < 1)
      throw new HttpError("malformed", `The header ${header} is not a list of key=value items.`);
    return [item.slice(0, mark), item.slice(mark + 1)];
  });
}

/** The fields of one record of comma-separated values (RFC 4180), none of an empty one; `undefined` stands for what is no field. */
function parseRecord(text: string): readonly (string | undefined)[] {
  const fields: string[] = [];
  if (text.trim() === "") return fields;
  FIELD.lastIndex = 0;
  do {
    const match = FIELD.exec(text);
    if (match === null) return [undefined];
    fields.push(match[1]?.replaceAll('""', '"') ?? (match[2] as string).trimEnd());
    // A comma has another field behind it, an empty one at the end.
    if (!match[0].endsWith(",")) return fields;
  } while (FIELD.lastIndex <= text.length);
  return fields;
}

/** An object with the keys as they are: none of them is one that every object has. */
function toMetadata(items: readonly (readonly [key: string, value: string])[]): Metadata {
  const values = new Map<string, string[]>();
  for (const [key, value] of items) {
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return Object.fromEntries(values);
}
