import { parseXml, XmlElement } from "@rgrove/parse-xml";

/** What XML 1.0 has no form for. Some stores write it all the same, in keys, which are read from nowhere but encoded listings. */
const NO_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** An element of an answer: its name, its text, and the elements in it. */
export interface XmlPart {
  readonly name: string;
  /** The text in it, that of its elements included, as it stands: blanks are kept and digits stay text. */
  readonly text: string;
  readonly parts: readonly XmlPart[];
}

/**
 * The outermost element of an answer, `undefined` where it is no XML. Entities are the five of XML and numbers of characters: a document
 * type is not read, so that nothing expands and nothing is fetched.
 */
export function parseResponse(text: string): XmlPart | undefined {
  try {
    const { root } = parseXml(text.replace(NO_CHARACTER, "\ufffd"));
    return root === null ? undefined : toPart(root);
  } catch {
    return undefined;
  }
}

function toPart(element: XmlElement): XmlPart {
  const parts: XmlPart[] = [];
  for (const child of element.children) if (child instanceof XmlElement) parts.push(toPart(child));
  return { name: element.name, text: parts.length === 0 ? element.text : "", parts };
}

/** The text of the first element of this name in another; empty where there is none. */
export function textOf(part: XmlPart | undefined, name: string): string {
  return part?.parts.find((one) => one.name === name)?.text ?? "";
}

/** Whether a text can stand in a document. */
export function isXmlText(text: string): boolean {
  return text.search(NO_CHARACTER) === -1;
}

/** A text inside an element; line ends as numbers, which no parser makes one of. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\r\n\t]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
