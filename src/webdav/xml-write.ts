import { findNamespace, type NamespaceScope, XML_NAMESPACE, type XmlElement } from "./xml-element.ts";
import { escapeXmlAttribute, escapeXmlText } from "./xml-text.ts";

/** The text so far, and how much of it there may be. */
interface Output {
  text: string;
  readonly maxBytes: number;
}

/**
 * Writes an element as text that can stand anywhere in an XML document: each element has the declarations that it
 * needs. Of the attributes of the element itself only `xml:lang` is written, as it applies to the element (RFC 4918
 * 4.3). Prefixes stay. Returns `undefined` for more than `maxBytes` in UTF-8: a long namespace that is declared once
 * may have to be written a thousand times.
 */
export function writeElement(element: XmlElement, maxBytes: number): string | undefined {
  const { language } = element;
  const attributes =
    language === "" ? [] : [{ prefix: "xml", namespace: XML_NAMESPACE, name: "lang", value: language }];
  const output: Output = { text: "", maxBytes };
  write({ ...element, attributes }, undefined, output);
  return isWithin(output) ? output.text : undefined;
}

function write(element: XmlElement, outer: NamespaceScope | undefined, output: Output): void {
  const { prefix, attributes, children } = element;
  const name = toQualifiedName(prefix, element.name);
  const own = toDeclarations(element, outer);
  output.text += `<${name}`;
  for (const [declared, namespace] of own) {
    append(output, ` ${declared === "" ? "xmlns" : `xmlns:${declared}`}="${escapeXmlAttribute(namespace)}"`);
  }
  for (const attribute of attributes) {
    append(output, ` ${toQualifiedName(attribute.prefix, attribute.name)}="${escapeXmlAttribute(attribute.value)}"`);
  }
  append(output, children.length === 0 ? "/>" : ">");
  const scope = own.size === 0 ? outer : { own, outer };
  for (const child of children) {
    if (typeof child === "string") append(output, escapeXmlText(child));
    else if (output.text.length <= output.maxBytes) write(child, scope, output);
  }
  if (children.length > 0) append(output, `</${name}>`);
}

/** What an element declares: what the client declared on it, and what it and its attributes use. */
function toDeclarations(
  { prefix, namespace, attributes, declarations }: XmlElement,
  outer: NamespaceScope | undefined,
): ReadonlyMap<string, string> {
  const own = new Map<string, string>();
  const used = attributes.filter((one) => one.prefix !== "").map((one) => [one.prefix, one.namespace] as const);
  for (const [declared, value] of [...declarations, [prefix, namespace] as const, ...used]) {
    if (declared !== "xml" && findNamespace(outer, declared) !== value) own.set(declared, value);
  }
  return own;
}

function toQualifiedName(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}:${name}`;
}

/** Writes a text, unless there is too much already. */
function append(output: Output, text: string): void {
  if (output.text.length <= output.maxBytes) output.text += text;
}

function isWithin({ text, maxBytes }: Output): boolean {
  return text.length <= maxBytes && new TextEncoder().encode(text).byteLength <= maxBytes;
}
