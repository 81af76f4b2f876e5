import type { Metadata } from "../contracts/events/transfers.ts";
import { createError } from "../http/errors.ts";
import { readFieldText } from "../http/header-text.ts";
import type { MetadataRules } from "./metadata-fields.ts";

/**
 * One field of an RFC 4180 record, without surrounding blanks, up to the comma or the end. Matches in one way only (no
 * ReDoS).
 */
const FIELD = /[ \t]*(?:"((?:[^"]|"")*)"[ \t]*|((?:[^",\t ][^",]*)?))(?:,|$)/y;

/**
 * Reads the metadata of an upload from its header (4.4, rule 4; CONTRACT 5). Returns `undefined` without the header.
 * @throws HttpError `malformed` if a required header is missing, or if the header cannot be parsed, lacks a required
 * key or has an unknown key.
 */
export function readMetadata(headers: Headers, { header, isRequired, keys }: MetadataRules): Metadata | undefined {
  const value = headers.get(header);
  if (value === null) {
    if (isRequired) throw createError("metadata-missing", { values: { header } });
    return undefined;
  }
  const items = parseItems(toText(value, header), header);
  for (const rule of keys ?? []) {
    if (rule.isRequired && !items.some(([key]) => rule.matches(key))) {
      throw createError("metadata-key-missing", { values: { header, key: rule.name } });
    }
  }
  if (keys !== undefined && !items.every(([key]) => keys.some((rule) => rule.matches(key)))) {
    throw createError("metadata-key-unexpected", { values: { header } });
  }
  return toMetadata(items);
}

/** Decodes a header value as UTF-8, like all other texts of the service. */
function toText(value: string, header: string): string {
  const text = readFieldText(value);
  if (text === undefined) throw createError("metadata-not-utf8", { values: { header } });
  return text;
}

function parseItems(text: string, header: string): readonly (readonly [key: string, value: string])[] {
  return parseRecord(text).map((item) => {
    const mark = item?.indexOf("=") ?? -1;
    // An empty key is not valid.
    if (item === undefined || mark < 1) throw createError("metadata-malformed", { values: { header } });
    return [item.slice(0, mark), item.slice(mark + 1)];
  });
}

/**
 * The fields of one record of comma-separated values (RFC 4180). `[undefined]` if it is malformed, no fields if it is
 * empty.
 */
function parseRecord(text: string): readonly (string | undefined)[] {
  const fields: string[] = [];
  if (text.trim() === "") return fields;
  FIELD.lastIndex = 0;
  do {
    const match = FIELD.exec(text);
    if (match === null) return [undefined];
    fields.push(match[1]?.replaceAll('""', '"') ?? (match[2] as string).trimEnd());
    // After a comma there is always another field, at the end an empty one.
    if (!match[0].endsWith(",")) return fields;
  } while (FIELD.lastIndex <= text.length);
  return fields;
}

/** Groups the values by key. `Object.fromEntries` makes even `__proto__` an ordinary key. */
function toMetadata(items: readonly (readonly [key: string, value: string])[]): Metadata {
  const values = new Map<string, string[]>();
  for (const [key, value] of items) {
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return Object.fromEntries(values);
}
