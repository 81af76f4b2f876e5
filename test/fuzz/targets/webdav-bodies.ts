import type { StorageEntry } from "../../../src/contracts/storage-adapter.ts";
import { isHttpError } from "../../../src/http/http-error.ts";
import { parseLockBody } from "../../../src/webdav/lock-body.ts";
import { MULTISTATUS_END, MULTISTATUS_START } from "../../../src/webdav/multistatus.ts";
import { planChanges, writeChanges } from "../../../src/webdav/property-changes.ts";
import { toPropertyKey } from "../../../src/webdav/property-name.ts";
import { parsePropfindBody } from "../../../src/webdav/propfind-body.ts";
import { createResponseWriter } from "../../../src/webdav/propfind-response.ts";
import { parseProppatchBody } from "../../../src/webdav/proppatch-body.ts";
import { parseXmlBody } from "../../../src/webdav/xml.ts";
import { davChildren, elementsOf, type XmlElement } from "../../../src/webdav/xml-element.ts";
import { writeElement } from "../../../src/webdav/xml-write.ts";
import { cutLine, expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";

const FILE: StorageEntry = { name: "a", kind: "file", size: 1, modified: new Date(0), etag: '"a"' };
const PATH = "/home/a&b";
/** What is ours may be longer than what clients send. */
const OURS = { maxBytes: 8 * 1024 * 1024, maxElements: 50_000 };
const MAX_KEPT = 64 * 1024;

/** A line with a method, and an XML body. */
export const target: FuzzTarget = {
  sources: [
    "webdav/xml.ts",
    "webdav/xml-scan.ts",
    "webdav/xml-namespaces.ts",
    "webdav/xml-write.ts",
    "webdav/propfind-body.ts",
    "webdav/proppatch-body.ts",
    "webdav/lock-body.ts",
    "webdav/property-changes.ts",
  ],
  dictionary: [
    "PROPFIND\n",
    "PROPPATCH\n",
    "LOCK\n",
    '<?xml version="1.0" encoding="utf-8"?>',
    '<D:propfind xmlns:D="DAV:">',
    '<D:propertyupdate xmlns:D="DAV:">',
    '<D:lockinfo xmlns:D="DAV:">',
    "<D:prop>",
    "</D:prop>",
    "<D:set>",
    "<D:remove>",
    "<D:allprop/>",
    "<D:propname/>",
    "<D:include>",
    "<D:getlastmodified>Tue, 05 May 2026 07:08:09 GMT</D:getlastmodified>",
    "<D:owner>",
    "<D:lockscope><D:exclusive/></D:lockscope>",
    "<D:locktype><D:write/></D:locktype>",
    '<a xmlns="">',
    'xmlns="urn:1"',
    'xmlns:x="urn:2"',
    'xmlns:x=""',
    'xml:lang="de"',
    "xmlns:xml=",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<?a ?>",
    "&#13;",
    "&lt;",
    "&quot;",
    "&b;",
    "&#x10FFFF;",
    "\xff\xfe",
    "\xfe\xff",
    "\xef\xbb\xbf",
    "/>",
    "</",
    ">",
  ],
  separators: ["<", ">", "/", "\n", '"', ":"],
  maxLength: 64 * 1024,
  run,
};

const METHODS: ReadonlyMap<string, (bytes: Uint8Array) => string> = new Map([
  ["PROPFIND", propfind],
  ["PROPPATCH", proppatch],
  ["LOCK", lock],
]);

function run(input: string): string {
  const [method, body] = cutLine(input);
  const parse = METHODS.get(method) ?? propfind;
  try {
    return parse(toBytes(body));
  } catch (error) {
    if (!isHttpError(error)) throw error;
    expect(error.code !== error.failure, "a refusal has a code of its own");
    return `${method} ${error.code}`;
  }
}

function propfind(bytes: Uint8Array): string {
  const query = parsePropfindBody(bytes);
  const write = createResponseWriter(query, { contentTypeOf: () => "text/plain", isMinimal: false });
  const found = readProperties(write({ href: PATH, entry: FILE, mayWrite: true }));
  if (query.kind === "prop") {
    const asked = query.names.map(toPropertyKey);
    expectSame([...found].sort(), [...asked].sort(), "each property that is asked for has a status, once");
  } else {
    expect(found.includes("{DAV:}resourcetype"), "all properties are there, or their names");
  }
  return `${query.kind} ${Math.min(found.length, 9)}`;
}

function proppatch(bytes: Uint8Array): string {
  const changes = parseProppatchBody(bytes);
  let size = 0;
  for (const change of changes) {
    if (change.kind !== "set") continue;
    size += Buffer.byteLength(change.xml);
    expect(toPropertyKey(readKept(change.xml)) === toPropertyKey(change.name), "what is kept has the property's name");
  }
  expect(size <= MAX_KEPT, "what is kept is not too large");
  const plan = planChanges(changes, 0);
  const keys = new Set(changes.map(({ name }) => toPropertyKey(name)));
  for (const failed of [plan.refused, new Map()]) {
    const found = readProperties(writeChanges(PATH, plan, failed));
    expectSame([...found].sort(), [...keys].sort(), "each property that is changed has a status, once");
  }
  for (const key of plan.properties.keys()) expect(!plan.refused.has(key), "what is refused is not stored");
  return `${Math.min(changes.length, 9)} ${plan.refused.size > 0} ${plan.modified !== undefined}`;
}

function lock(bytes: Uint8Array): string {
  const request = parseLockBody(bytes);
  if (request === undefined) return "no body";
  const { scope, owner } = request;
  if (owner !== "") expect(toPropertyKey(readKept(owner)) === "{DAV:}owner", "an owner is one");
  expect(Buffer.byteLength(owner) <= 4096, "and is not too large");
  return `${scope} ${owner !== ""}`;
}

/** The keys of the properties of a response, which must be well-formed. */
function readProperties(response: string): readonly string[] {
  const root = parseOurs(MULTISTATUS_START + response + MULTISTATUS_END);
  const [one, ...others] = elementsOf(root);
  expect(one !== undefined && others.length === 0, "there is one response");
  const propstats = davChildren(one, "propstat");
  expect(propstats.length > 0, "a response has a status");
  return propstats
    .flatMap((propstat) => davChildren(propstat, "prop"))
    .flatMap(elementsOf)
    .map(toPropertyKey);
}

/** Reads what is kept in a document whose prefixes mean something else. */
function readKept(kept: string): XmlElement {
  expect(!/<[!?]/.test(kept), "neither comments nor document types are kept");
  const root = parseOurs(`<o xmlns="urn:o" xmlns:D="urn:d" xmlns:x="urn:y" xml:lang="fr">${kept}</o>`);
  const [element, ...others] = elementsOf(root);
  expect(element !== undefined && others.length === 0 && root.children.length === 1, "what is kept is one element");
  const { language } = element;
  const own = language === "fr" && !kept.includes('xml:lang="fr"') ? "" : language;
  expect(writeElement({ ...element, language: own }, MAX_KEPT) === kept, "and is kept again as it is");
  return element;
}

function parseOurs(text: string): XmlElement {
  try {
    return parseXmlBody(new TextEncoder().encode(text), OURS);
  } catch (error) {
    throw new Error(`Broken: what is written is well-formed: ${text.slice(0, 1000)}`, { cause: error });
  }
}
