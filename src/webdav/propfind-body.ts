import { createError } from "../http/errors.ts";
import { type PropertyName, requireShortNames, toPropertyKey } from "./property-name.ts";
import { parseXmlBody } from "./xml.ts";
import { davChildren, elementsOf, isDav, type XmlElement } from "./xml-element.ts";

/** What a PROPFIND asks for. */
export type PropfindQuery =
  | { readonly kind: "propname" }
  /** All properties, and these, which are not among them. */
  | { readonly kind: "allprop"; readonly include: readonly PropertyName[] }
  | { readonly kind: "prop"; readonly names: readonly PropertyName[] };

/**
 * Parses the body of a PROPFIND (RFC 4918 14.20). No body asks for all properties. Each name is there once.
 * @throws HttpError as `parseXmlBody`, and `malformed` if the body is something else.
 */
export function parsePropfindBody(bytes: Uint8Array): PropfindQuery {
  if (bytes.byteLength === 0) return { kind: "allprop", include: [] };
  const root = parseXmlBody(bytes);
  const [query, ...others] = davChildren(root, "propname", "allprop", "prop");
  if (!isDav(root, "propfind") || query === undefined || others.length > 0) throw createError("propfind-malformed");
  if (query.name === "propname") return { kind: "propname" };
  if (query.name === "prop") return { kind: "prop", names: toNames([query]) };
  return { kind: "allprop", include: toNames(davChildren(root, "include")) };
}

/** Whether a PROPFIND asks for one of some properties by name. */
export function asksFor(query: PropfindQuery, keys: readonly string[]): boolean {
  if (query.kind === "propname") return false;
  const names = query.kind === "prop" ? query.names : query.include;
  return names.some((name) => keys.includes(toPropertyKey(name)));
}

/** The names of the child elements. */
function toNames(parents: readonly XmlElement[]): readonly PropertyName[] {
  const names = parents.flatMap(elementsOf).map(({ namespace, name }) => ({ namespace, name }));
  requireShortNames(names);
  return [...new Map(names.map((name) => [toPropertyKey(name), name])).values()];
}
