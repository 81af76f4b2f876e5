import { parseXml, XmlElement } from "@rgrove/parse-xml";

/**
 * Characters that XML 1.0 cannot represent. Some stores send them all the same, in keys. This storage reads keys only
 * from encoded listings.
 */
const NO_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** An element of a response: its name, its text, and its child elements. */
export interface XmlPart {
  readonly name: string;
  /** Text of an element without children, else empty. Spaces are kept, and numbers stay text. */
  readonly text: string;
  readonly parts: readonly XmlPart[];
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Parses a response and returns its root element, or `undefined` if it is not XML. Only the five entities of XML and
 * character references are decoded. Document types are not read, so nothing is expanded or fetched.
 */
export function parseResponse(text: string): XmlPart | undefined {
  try {
    // The parser does this too, but takes 42 s for 256 KiB of `\r`.
    const normalized = text.replace(/\r\n?/g, "\n");
    const { root } = parseXml(normalized.replace(NO_CHARACTER, "\ufffd"));
    return root === null ? undefined : toPart(root);
  } catch {
    return undefined;
  }
}

function toPart(element: XmlElement): XmlPart {
  const parts: XmlPart[] = [];
  for (const child of element.children) if (child instanceof XmlElement) parts.push(toPart(child));
  const { name, attributes } = element;
  return { name, text: parts.length === 0 ? element.text : "", parts, attributes };
}

/** Returns the text of the first child element with this name, or the empty string. */
export function childText(part: XmlPart | undefined, name: string): string {
  return part?.parts.find((one) => one.name === name)?.text ?? "";
}

/** Whether XML can represent a text. */
export function isXmlText(text: string): boolean {
  return text.search(NO_CHARACTER) === -1;
}

/** Escapes text inside an element. Line ends become character references, because parsers normalize literal ones. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\r\n\t]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
