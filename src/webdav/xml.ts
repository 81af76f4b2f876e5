import { parseXml, XmlDeclaration, type XmlDocument, XmlDocumentType } from "@rgrove/parse-xml";
import { createError, type ErrorCode } from "../http/errors.ts";
import { mediaType } from "../http/negotiate.ts";
import { decodeUtf8 } from "../platform/utf8.ts";
import type { XmlElement } from "./xml-element.ts";
import { resolveNamespaces } from "./xml-namespaces.ts";
import { findXmlProblem, type XmlProblem } from "./xml-scan.ts";

/** Limits of an XML body. */
export interface XmlLimits {
  readonly maxBytes: number;
  readonly maxElements: number;
}

/** The limits of every body but that of PROPPATCH. */
export const XML_LIMITS: XmlLimits = { maxBytes: 64 * 1024, maxElements: 1000 };

/** The level of the deepest element; the root has level 1. */
const MAX_DEPTH = 32;
const ENCODINGS = ["utf-8", "utf8", "us-ascii"];
const CODES: Readonly<Record<XmlProblem, ErrorCode>> = {
  malformed: "xml-malformed",
  "document-type": "xml-document-type",
  "too-complex": "xml-too-complex",
};

/**
 * Rejects a `Content-Type` that is not one of XML's. A body without one is accepted.
 * @throws HttpError `unsupported-media-type`.
 */
export function requireXmlMediaType(headers: Headers): void {
  const type = mediaType(headers.get("content-type"));
  if (type !== undefined && type !== "application/xml" && type !== "text/xml") throw createError("xml-media-type");
}

/**
 * Parses an XML body and returns its root element. No entity but the five of XML is expanded, and nothing is fetched.
 * @throws HttpError `too-large` for more than `maxBytes`; `malformed` if it is not well-formed, not in UTF-8 or UTF-16,
 * if it has a document type, too many elements or too many levels (WEBDAV 10.1).
 */
export function parseXmlBody(bytes: Uint8Array, { maxBytes, maxElements }: XmlLimits = XML_LIMITS): XmlElement {
  if (bytes.byteLength > maxBytes) throw createError("body-too-large", { values: { max: maxBytes } });
  const isUtf16 = startsWith(bytes, 0xfe, 0xff) || startsWith(bytes, 0xff, 0xfe);
  const decoded = isUtf16 ? decodeUtf16(bytes) : decodeUtf8(bytes, "remove");
  if (decoded === undefined) throw createError("xml-not-unicode");
  // XML 1.0 2.11. The parser does the same in quadratic time.
  const text = decoded.replace(/\r\n?/g, "\n");
  const problem = findXmlProblem(text, { maxElements, maxDepth: MAX_DEPTH });
  if (problem !== undefined) throw createError(CODES[problem]);
  const { children, root } = parse(text);
  for (const child of children) {
    if (child instanceof XmlDocumentType) throw createError("xml-document-type");
    if (child instanceof XmlDeclaration) requireEncoding(child.encoding, isUtf16);
  }
  const element = root && resolveNamespaces(root);
  if (!element) throw createError("xml-malformed");
  return element;
}

function parse(text: string): XmlDocument {
  try {
    return parseXml(text, { preserveDocumentType: true, preserveXmlDeclaration: true });
  } catch (cause) {
    throw createError("xml-malformed", { cause });
  }
}

/** A declared encoding must be the one that the bytes have (XML 1.0 4.3.3). */
function requireEncoding(encoding: string | null, isUtf16: boolean): void {
  const name = encoding?.toLowerCase();
  if (name === undefined || (isUtf16 ? name.startsWith("utf-16") : ENCODINGS.includes(name))) return;
  throw createError("xml-not-unicode");
}

function startsWith(bytes: Uint8Array, first: number, second: number): boolean {
  return bytes[0] === first && bytes[1] === second;
}

/** Not all runtimes have a decoder for big-endian UTF-16, so its bytes are swapped. */
function decodeUtf16(bytes: Uint8Array): string | undefined {
  const isBigEndian = bytes[0] === 0xfe;
  const ordered = isBigEndian ? bytes.map((_, index) => bytes[index ^ 1] ?? 0) : bytes;
  if (bytes.byteLength % 2 !== 0) return undefined;
  try {
    return new TextDecoder("utf-16le", { fatal: true }).decode(ordered);
  } catch {
    return undefined;
  }
}
