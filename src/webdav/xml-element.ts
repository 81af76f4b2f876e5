/** The namespace of RFC 4918. */
export const DAV = "DAV:";
/** The namespace that the prefix `xml` always has. */
export const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

/** An attribute that is no declaration of a namespace. Without a prefix it has no namespace. */
export interface XmlAttribute {
  readonly prefix: string;
  readonly namespace: string;
  readonly name: string;
  readonly value: string;
}

/** An element with its namespace. */
export interface XmlElement {
  /** The prefix that the client chose; empty for the default namespace. */
  readonly prefix: string;
  /** Empty if it has none. */
  readonly namespace: string;
  /** The local name, without the prefix. */
  readonly name: string;
  readonly attributes: readonly XmlAttribute[];
  /** The namespaces that this element declares, by prefix. */
  readonly declarations: ReadonlyMap<string, string>;
  /** Elements and texts in their order, without comments and processing instructions. */
  readonly children: readonly (XmlElement | string)[];
  /** `xml:lang` as it applies here; empty if there is none. */
  readonly language: string;
}

/** The child elements. */
export function elementsOf({ children }: XmlElement): readonly XmlElement[] {
  return children.filter((child) => typeof child !== "string");
}

/** The child elements with one of these names in the namespace `DAV:`. */
export function davChildren(element: XmlElement, ...names: readonly string[]): readonly XmlElement[] {
  return elementsOf(element).filter(({ namespace, name }) => namespace === DAV && names.includes(name));
}

/** Whether an element has this name in the namespace `DAV:`. */
export function isDav({ namespace, name }: XmlElement, expected: string): boolean {
  return namespace === DAV && name === expected;
}

/** An element of the namespace `DAV:` with the prefix `D`, which naive clients expect. Other elements stay. */
export function withDavPrefix(element: XmlElement): XmlElement {
  if (element.namespace !== DAV) return element;
  const others = [...element.declarations].filter(([prefix]) => prefix !== element.prefix);
  return { ...element, prefix: "D", declarations: new Map([...others, ["D", DAV]]) };
}

/** The texts of an element and of everything in it. */
export function textOf({ children }: XmlElement): string {
  return children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
}

/** Namespaces by prefix: an element's own, and those around it. Levels are few, so they are not copied. */
export interface NamespaceScope {
  readonly own: ReadonlyMap<string, string>;
  readonly outer: NamespaceScope | undefined;
}

/** The namespace of a prefix; `undefined` if it is not declared. */
export function findNamespace(scope: NamespaceScope | undefined, prefix: string): string | undefined {
  for (let level = scope; level !== undefined; level = level.outer) {
    const namespace = level.own.get(prefix);
    if (namespace !== undefined) return namespace;
  }
  return undefined;
}
