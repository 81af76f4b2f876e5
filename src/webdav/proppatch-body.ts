import { createError } from "../http/errors.ts";
import { type PropertyName, requireShortNames } from "./property-name.ts";
import { parseXmlBody, type XmlLimits } from "./xml.ts";
import { davChildren, elementsOf, isDav, textOf, withDavPrefix, type XmlElement } from "./xml-element.ts";
import { writeElement } from "./xml-write.ts";

/** A change of a property, as the client wants it. */
export type PropertyChange = SetProperty | RemoveProperty;

/** Sets a property. */
export interface SetProperty {
  readonly kind: "set";
  readonly name: PropertyName;
  /**
   * The property as one XML element with its name, to be stored and sent as it is: it declares every prefix that it
   * uses.
   */
  readonly xml: string;
  /** Its text without elements, for properties that are dates. */
  readonly text: string;
}

/** Removes a property, whether it exists or not. */
export interface RemoveProperty {
  readonly kind: "remove";
  readonly name: PropertyName;
}

/** The limits of the body of a PROPPATCH. */
export const PROPPATCH_LIMITS: XmlLimits = { maxBytes: 256 * 1024, maxElements: 5000 };
/** How much the properties of one resource may have together, in bytes. One request cannot set more. */
export const MAX_PROPERTIES_BYTES = 64 * 1024;

/**
 * Parses the body of a PROPPATCH (RFC 4918 14.19). The changes are in the order of the document.
 * @throws HttpError as `parseXmlBody`, `malformed` if the body is something else, and `no-space` if the properties have
 * more than 64 KiB in total.
 */
export function parseProppatchBody(bytes: Uint8Array): readonly PropertyChange[] {
  const root = parseXmlBody(bytes, PROPPATCH_LIMITS);
  const instructions = davChildren(root, "set", "remove");
  if (!isDav(root, "propertyupdate") || instructions.length === 0) throw createError("proppatch-malformed");
  const changes: PropertyChange[] = [];
  let left = MAX_PROPERTIES_BYTES;
  for (const instruction of instructions) {
    for (const element of toProperties(instruction)) {
      const change = instruction.name === "set" ? toSet(element, left) : toRemove(element);
      if (change.kind === "set") left -= new TextEncoder().encode(change.xml).byteLength;
      changes.push(change);
    }
  }
  requireShortNames(changes.map(({ name }) => name));
  return changes;
}

function toProperties(instruction: XmlElement): readonly XmlElement[] {
  const lists = davChildren(instruction, "prop");
  if (lists.length === 0) throw createError("proppatch-malformed");
  return lists.flatMap(elementsOf);
}

function toSet(element: XmlElement, maxBytes: number): SetProperty {
  const xml = writeElement(withDavPrefix(element), maxBytes);
  if (xml === undefined) throw createError("properties-too-large", { values: { max: MAX_PROPERTIES_BYTES } });
  return { kind: "set", name: toName(element), xml, text: textOf(element) };
}

function toRemove(element: XmlElement): RemoveProperty {
  return { kind: "remove", name: toName(element) };
}

function toName({ namespace, name }: XmlElement): PropertyName {
  return { namespace, name };
}
