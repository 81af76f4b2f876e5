import { createError } from "../http/errors.ts";
import { DAV, XML_NAMESPACE } from "./xml-element.ts";
import { escapeXmlAttribute } from "./xml-text.ts";

/** The name of a property. */
export interface PropertyName {
  /** Empty if it has none. */
  readonly namespace: string;
  /** The local name. */
  readonly name: string;
}

/** Formats a name as `{namespace}local`, as storages keep it. */
export function toPropertyKey({ namespace, name }: PropertyName): string {
  return `{${namespace}}${name}`;
}

/** Parses `{namespace}local`; `undefined` for any other text. A namespace may have braces, a local name may not. */
export function parsePropertyKey(key: string): PropertyName | undefined {
  const end = key.lastIndexOf("}");
  if (!key.startsWith("{") || end < 0 || end === key.length - 1) return undefined;
  return { namespace: key.slice(1, end), name: key.slice(end + 1) };
}

/** How long the names of one request may be together. Real clients send at most a few thousand characters. */
const MAX_CHARACTERS = 64 * 1024;

/**
 * Rejects names that are too long together. An attacker could declare a namespace of many kilobytes once, and the
 * response would have it for each of a thousand names and each member of a folder.
 * @throws HttpError `malformed`.
 */
export function requireShortNames(names: readonly PropertyName[]): void {
  let length = 0;
  for (const { namespace, name } of names) length += namespace.length + name.length;
  if (length > MAX_CHARACTERS) throw createError("xml-too-complex");
}

/** The key of a property of the namespace `DAV:`. */
export function davKey(name: string): string {
  return `{${DAV}}${name}`;
}

/**
 * Writes a name as an empty element. The prefix `D` is that of the document; any other namespace is declared by the
 * element itself, except for that of `xml`, which only this prefix may have.
 */
export function writePropertyName({ namespace, name }: PropertyName): string {
  if (namespace === DAV) return `<D:${name}/>`;
  if (namespace === XML_NAMESPACE) return `<xml:${name}/>`;
  return namespace === "" ? `<${name} xmlns=""/>` : `<x:${name} xmlns:x="${escapeXmlAttribute(namespace)}"/>`;
}
