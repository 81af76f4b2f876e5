import { XmlElement as ParsedElement, XmlText } from "@rgrove/parse-xml";
import {
  findNamespace,
  type NamespaceScope,
  XML_NAMESPACE,
  type XmlAttribute,
  type XmlElement,
} from "./xml-element.ts";

/** The namespace of declarations. No prefix may be bound to it. */
const XMLNS_NAMESPACE = "http://www.w3.org/2000/xmlns/";
/** What must not begin a local name, though a name may contain it (XML 1.0 2.3). */
const NO_NAME_START = /^(?:[-.\d\u203f\u2040]|\u00b7|[\u0300-\u036f])/;
const OUTERMOST: NamespaceScope = {
  own: new Map([
    ["", ""],
    ["xml", XML_NAMESPACE],
  ]),
  outer: undefined,
};

type Name = readonly [prefix: string, local: string];

/**
 * Resolves the namespaces of an element and of everything in it (Namespaces in XML 1.0), which the parser does not
 * know. Returns `undefined` if a prefix or a declaration is wrong, or if an attribute is there twice.
 */
export function resolveNamespaces(root: ParsedElement): XmlElement | undefined {
  return resolve(root, OUTERMOST, "");
}

function resolve(element: ParsedElement, outer: NamespaceScope, outerLanguage: string): XmlElement | undefined {
  const attributes: [Name, string][] = [];
  const own = new Map<string, string>();
  for (const [text, value] of Object.entries(element.attributes)) {
    const name = splitName(text);
    if (name === undefined) return undefined;
    const declared = text === "xmlns" ? "" : name[0] === "xmlns" ? name[1] : undefined;
    if (declared === undefined) attributes.push([name, value]);
    else if (mayDeclare(declared, value)) own.set(declared, value);
    else return undefined;
  }
  const scope = own.size === 0 ? outer : { own, outer };
  const name = splitName(element.name);
  const namespace = name && findNamespace(scope, name[0]);
  const resolved = resolveAttributes(attributes, scope);
  if (name === undefined || namespace === undefined || resolved === undefined) return undefined;
  const language = element.attributes["xml:lang"] ?? outerLanguage;
  const children = resolveChildren(element, scope, language);
  if (children === undefined) return undefined;
  const [prefix, local] = name;
  return { prefix, namespace, name: local, attributes: resolved, declarations: own, children, language };
}

function resolveChildren(
  { children }: ParsedElement,
  scope: NamespaceScope,
  language: string,
): readonly (XmlElement | string)[] | undefined {
  const resolved: (XmlElement | string)[] = [];
  for (const child of children) {
    if (child instanceof XmlText) resolved.push(child.text);
    else if (child instanceof ParsedElement) {
      const element = resolve(child, scope, language);
      if (element === undefined) return undefined;
      resolved.push(element);
    }
  }
  return resolved;
}

function resolveAttributes(
  attributes: readonly [Name, string][],
  scope: NamespaceScope,
): readonly XmlAttribute[] | undefined {
  // By namespace: texts made of a long namespace and each name would take quadratic time.
  const seen = new Map<string, Set<string>>();
  const resolved: XmlAttribute[] = [];
  for (const [[prefix, name], value] of attributes) {
    // The default namespace is not for attributes.
    const namespace = prefix === "" ? "" : findNamespace(scope, prefix);
    if (namespace === undefined) return undefined;
    const names = seen.get(namespace) ?? new Set();
    if (names.has(name)) return undefined;
    seen.set(namespace, names.add(name));
    resolved.push({ prefix, namespace, name, value });
  }
  return resolved;
}

function splitName(name: string): Name | undefined {
  const [first = "", second, ...others] = name.split(":");
  const [prefix, local] = second === undefined ? ["", first] : [first, second];
  const isName = others.length === 0 && local !== "" && !NO_NAME_START.test(local);
  return isName && (second === undefined || prefix !== "") ? [prefix, local] : undefined;
}

function mayDeclare(prefix: string, namespace: string): boolean {
  if (prefix === "xmlns" || namespace === XMLNS_NAMESPACE) return false;
  if (prefix === "xml" || namespace === XML_NAMESPACE) return prefix === "xml" && namespace === XML_NAMESPACE;
  return prefix === "" || namespace !== "";
}
