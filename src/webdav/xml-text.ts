/** Characters that XML 1.0 has no form for (XML 1.0 2.2). */
const NO_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
/** What needs no escaping in the content of an element, and in an attribute: nearly every text. */
const PLAIN_TEXT = /^[ -%'-;=?-~]*$/;
const PLAIN_ATTRIBUTE = /^[ !#-%'-;=?-~]*$/;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * Escapes a text for the content of an element. A carriage return becomes a character reference, because parsers
 * replace a literal one. What XML cannot represent becomes U+FFFD.
 */
export function escapeXmlText(text: string): string {
  return PLAIN_TEXT.test(text) ? text : text.replace(/[&<>\r]/g, toReference).replace(NO_CHARACTER, "\ufffd");
}

/** Escapes a text for the value of an attribute in double quotes. */
export function escapeXmlAttribute(text: string): string {
  return PLAIN_ATTRIBUTE.test(text) ? text : text.replace(/[&<>"\r\n\t]/g, toReference).replace(NO_CHARACTER, "\ufffd");
}

function toReference(sign: string): string {
  return ENTITIES[sign] ?? `&#${sign.charCodeAt(0)};`;
}
