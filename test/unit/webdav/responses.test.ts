import { describe, expect, it } from "vitest";
import type { StorageEntry } from "../../../src/contracts/storage-adapter.ts";
import { prefersMinimalReturn } from "../../../src/http/preferences.ts";
import { type ActiveLock, type DavResource, writeLockResponse } from "../../../src/webdav/live-properties.ts";
import {
  encodeSegment,
  MULTISTATUS_END,
  MULTISTATUS_START,
  writeError,
  writePropstat,
  xmlReply,
} from "../../../src/webdav/multistatus.ts";
import { toPropertyKey } from "../../../src/webdav/property-name.ts";
import { parsePropfindBody } from "../../../src/webdav/propfind-body.ts";
import { createResponseWriter } from "../../../src/webdav/propfind-response.ts";
import { parseXmlBody } from "../../../src/webdav/xml.ts";
import { davChildren, elementsOf, textOf } from "../../../src/webdav/xml-element.ts";
import { escapeXmlAttribute, escapeXmlText } from "../../../src/webdav/xml-text.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { areMutants } from "../../support/timed.ts";
import { field, toBytes } from "./bytes.ts";
import { PROPFINDS } from "./recorded.ts";

const MODIFIED = new Date("2026-05-05T07:08:09.123Z");
const FILE: StorageEntry = { name: "a.txt", kind: "file", size: 5, modified: MODIFIED, etag: '"a-1"' };
const FOLDER: StorageEntry = { name: "b", kind: "folder", size: 0, modified: MODIFIED };
const LOCK: ActiveLock = {
  scope: "exclusive",
  depth: "0",
  owner: '<D:owner xmlns:D="DAV:">Alice</D:owner>',
  seconds: 599.9,
  token: "opaquelocktoken:1",
  root: "/home/a&b.txt",
};
const DEAD = new Map([
  ["{urn:x}a", '<x:a xmlns:x="urn:x">1</x:a>'],
  ["{DAV:}displayname", '<D:displayname xmlns:D="DAV:">A</D:displayname>'],
]);
const OPTIONS = { contentTypeOf: () => "text/plain", isMinimal: false };
const DATE = "<D:getlastmodified>Tue, 05 May 2026 07:08:09 GMT</D:getlastmodified>";

function file(more: Partial<DavResource> = {}): DavResource {
  return { href: "/home/a.txt", entry: FILE, mayWrite: true, ...more };
}

function folder(more: Partial<DavResource> = {}): DavResource {
  return { href: "/home/b/", entry: FOLDER, mayWrite: true, ...more };
}

function ask(content: string, options = OPTIONS) {
  const body = `<D:propfind xmlns:D="DAV:">${content}</D:propfind>`;
  return createResponseWriter(parsePropfindBody(toBytes(body)), options);
}

/** What stands in a response besides its URL, without the elements that each has. */
function inShort(response: string): string {
  return response
    .replace(/^<D:response><D:href>[^<]*<\/D:href>|<\/D:response>$/g, "")
    .replace(
      /<D:propstat><D:prop>(.*?)<\/D:prop><D:status>HTTP\/1.1 (\d+) [\w ]+<\/D:status><\/D:propstat>/g,
      "[$2 $1]",
    );
}

/** The statuses of the properties of a response, by their keys. */
function statusesOf(response: string): Readonly<Record<string, string>> {
  const root = parseXmlBody(toBytes(MULTISTATUS_START + response + MULTISTATUS_END));
  const propstats = elementsOf(root).flatMap((one) => davChildren(one, "propstat"));
  const found = propstats.flatMap((propstat) => {
    const status = davChildren(propstat, "status").map(textOf).join("").slice(9, 12);
    return davChildren(propstat, "prop")
      .flatMap(elementsOf)
      .map((name) => [toPropertyKey(name), status] as const);
  });
  return Object.fromEntries(found);
}

describe("the response to a PROPFIND", () => {
  it("has its elements with the prefix D, without blanks, and the path alone as URL", () => {
    expect(ask("<D:prop><D:getetag/><D:displayname/></D:prop>")(file({ href: "/home/a&b.txt" }))).toBe(
      "<D:response><D:href>/home/a&amp;b.txt</D:href>" +
        '<D:propstat><D:prop><D:getetag>"a-1"</D:getetag></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>' +
        "<D:propstat><D:prop><D:displayname/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>" +
        "</D:response>",
    );
  });

  it("has all live properties of a file, and of a folder", () => {
    expect(inShort(ask("<D:allprop/>")(file()))).toBe(
      `[200 <D:resourcetype/><D:getcontentlength>5</D:getcontentlength>${DATE}` +
        '<D:getetag>"a-1"</D:getetag><D:getcontenttype>text/plain</D:getcontenttype>]',
    );
    expect(inShort(ask("<D:allprop/>")(folder()))).toBe(
      `[200 <D:resourcetype><D:collection/></D:resourcetype>${DATE}]`,
    );
  });

  it("has the entity-tag that a GET has, also if the storage has none", () => {
    const entry: StorageEntry = { name: "a", kind: "file", size: 255, modified: new Date(16) };
    expect(inShort(ask("<D:prop><D:getetag/></D:prop>")(file({ entry })))).toBe(
      '[200 <D:getetag>W/"ff-10"</D:getetag>]',
    );
  });

  it("has the dead properties among all, and those about locks where there is one", () => {
    const all = ask("<D:allprop/>");
    expect(Object.keys(statusesOf(all(folder({ properties: DEAD, locks: [LOCK] }))))).toEqual([
      "{DAV:}resourcetype",
      "{DAV:}getlastmodified",
      "{DAV:}supportedlock",
      "{DAV:}lockdiscovery",
      "{urn:x}a",
      "{DAV:}displayname",
    ]);
    expect(all(folder({ locks: [] }))).not.toContain("lock");
  });

  it("has what is included in addition to all, each once", () => {
    const all = ask(
      '<D:allprop/><D:include><D:supportedlock/><D:getetag/><D:displayname/><x:b xmlns:x="urn:x"/></D:include>',
    );
    const response = all(file({ properties: DEAD, locks: [LOCK] }));
    expect(statusesOf(response)).toMatchObject({
      "{DAV:}supportedlock": "200",
      "{DAV:}displayname": "200",
      "{urn:x}a": "200",
      "{urn:x}b": "404",
    });
    for (const once of ["<D:supportedlock>", "<D:getetag>", "<D:displayname ", "<D:lockdiscovery>"]) {
      expect(response.split(once)).toHaveLength(2);
    }
  });

  it("has the names alone if they are asked for", () => {
    expect(inShort(ask("<D:propname/>")(folder({ properties: DEAD })))).toBe(
      "[200 <D:resourcetype/><D:getlastmodified/><D:supportedlock/><D:lockdiscovery/>" +
        '<x:a xmlns:x="urn:x"/><D:displayname/>]',
    );
  });

  it("has 404 for what there is not, unless the client does without", () => {
    const names = '<D:prop><D:getcontentlength/><x:a xmlns:x="urn:x"/><a/><D:resourcetype/></D:prop>';
    const missing = '[404 <D:getcontentlength/><x:a xmlns:x="urn:x"/><a xmlns=""/>]';
    const found = "[200 <D:resourcetype><D:collection/></D:resourcetype>]";
    expect(inShort(ask(names)(folder()))).toBe(found + missing);
    expect(inShort(ask(names, { ...OPTIONS, isMinimal: true })(folder()))).toBe(found);
    expect(statusesOf(ask(names)(folder({ properties: DEAD })))).toMatchObject({ "{urn:x}a": "200" });
  });

  it("has a status also if there is no property", () => {
    const empty = "<D:propstat><D:prop/><D:status>HTTP/1.1 200 OK</D:status></D:propstat>";
    expect(ask("<D:prop/>")(file())).toContain(empty);
    expect(ask("<D:prop><D:a/></D:prop>", { ...OPTIONS, isMinimal: true })(file())).toContain(empty);
    expect(ask("<D:prop/>")(file({ isHidden: true }))).toContain(empty);
  });

  it("has nothing but the kind of what is hidden, and 403 for what else is asked for", () => {
    const hidden = file({ isHidden: true, properties: DEAD, locks: [LOCK] });
    expect(inShort(ask("<D:allprop/>")(hidden))).toBe("[200 <D:resourcetype/>]");
    expect(inShort(ask("<D:propname/>")(hidden))).toBe("[200 <D:resourcetype/>]");
    const names = "<D:prop><D:getetag/><D:resourcetype/><D:displayname/></D:prop>";
    expect(inShort(ask(names, { ...OPTIONS, isMinimal: true })(hidden))).toBe(
      "[200 <D:resourcetype/>][403 <D:getetag/><D:displayname/>]",
    );
    expect(inShort(ask("<D:prop><D:getetag/></D:prop>")(hidden))).toBe("[403 <D:getetag/>]");
  });

  it.each(Object.entries(PROPFINDS))("has a status for each property that %s asks for", (_, [body, keys]) => {
    const write = createResponseWriter(parsePropfindBody(toBytes(body)), OPTIONS);
    const statuses = statusesOf(write(file({ locks: [LOCK] })));
    for (const key of keys === "allprop" ? ["{DAV:}resourcetype", "{DAV:}lockdiscovery"] : keys) {
      expect(statuses[key]).toMatch(/^(?:200|404)$/);
    }
  });

  it("has at most 430 bytes besides the URL for all properties of a file (WEBDAV 11)", () => {
    const etag = `"${"f".repeat(40)}"`;
    const entry: StorageEntry = { ...FILE, size: 9_007_199_254_740_991, etag };
    const contentTypeOf = () => "application/octet-stream";
    const response = ask("<D:allprop/>", { ...OPTIONS, contentTypeOf })(file({ entry, href: "" }));
    expect(response.length).toBeLessThanOrEqual(430);
  });

  it.skipIf(areMutants)("of 100,000 members takes less than a second", () => {
    const write = ask(
      "<D:prop><D:resourcetype/><D:getcontentlength/><D:getlastmodified/><D:getetag/><D:getcontenttype/><D:displayname/></D:prop>",
    );
    const elapsed = startProcessorTime();
    let size = 0;
    for (let index = 0; index < 100_000; index++) {
      const name = `file ${index}.txt`;
      const entry = { ...FILE, name, modified: new Date(1_778_000_000_000 + index * 1000), etag: `"${index}"` };
      size += Buffer.byteLength(write({ href: `/home/${encodeSegment(name)}`, entry, mayWrite: true }));
    }
    expect(size).toBeGreaterThan(40_000_000);
    expect(elapsed()).toBeLessThan(1000);
  });
});

describe("the properties about locks", () => {
  const discover = ask("<D:prop><D:lockdiscovery/></D:prop>");

  it("describe a lock with its root, its time and its owner", () => {
    expect(inShort(discover(file({ locks: [LOCK] })))).toBe(
      "[200 <D:lockdiscovery><D:activelock><D:locktype><D:write/></D:locktype>" +
        '<D:lockscope><D:exclusive/></D:lockscope><D:depth>0</D:depth><D:owner xmlns:D="DAV:">Alice</D:owner>' +
        "<D:timeout>Second-599</D:timeout><D:locktoken><D:href>opaquelocktoken:1</D:href></D:locktoken>" +
        "<D:lockroot><D:href>/home/a&amp;b.txt</D:href></D:lockroot></D:activelock></D:lockdiscovery>]",
    );
  });

  it("hide the tokens of others, and show several locks", () => {
    const shared: ActiveLock = {
      ...LOCK,
      scope: "shared",
      depth: "infinity",
      owner: "",
      token: undefined,
      seconds: -1,
    };
    const response = discover(file({ locks: [shared, { ...shared, token: "urn:2" }] }));
    expect(response.match(/<D:locktoken>/g)).toHaveLength(1);
    expect(response.match(/<D:shared\/>/g)).toHaveLength(2);
    expect(response).toContain("<D:depth>infinity</D:depth><D:timeout>Second-0</D:timeout><D:lockroot>");
  });

  it("say that nothing is locked, and what can be, only to those who may", () => {
    expect(inShort(discover(file()))).toBe("[200 <D:lockdiscovery/>]");
    const supported = ask("<D:prop><D:supportedlock/></D:prop>");
    const entry = (scope: string) =>
      `<D:lockentry><D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>`;
    expect(inShort(supported(folder()))).toBe(
      `[200 <D:supportedlock>${entry("exclusive")}${entry("shared")}</D:supportedlock>]`,
    );
    expect(inShort(supported(folder({ mayWrite: false })))).toBe("[200 <D:supportedlock/>]");
  });

  it("are the body of the response to a LOCK", () => {
    const root = parseXmlBody(toBytes(writeLockResponse([LOCK])));
    expect(toPropertyKey(root)).toBe("{DAV:}prop");
    expect(textOf(root)).toBe("0AliceSecond-599opaquelocktoken:1/home/a&b.txt");
  });
});

describe("the body of an error", () => {
  it("has its condition, and the paths that it is about", () => {
    const start = '<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:">';
    expect(writeError("propfind-finite-depth")).toBe(`${start}<D:propfind-finite-depth/></D:error>`);
    expect(writeError("lock-token-submitted", ["/home/a/", "/home/b&c"])).toBe(
      `${start}<D:lock-token-submitted><D:href>/home/a/</D:href><D:href>/home/b&amp;c</D:href></D:lock-token-submitted></D:error>`,
    );
  });

  it("is sent as XML in UTF-8", () => {
    const { status, headers, body } = xmlReply(423, writeError("no-conflicting-lock", ["/home/ü"]), { Allow: "LOCK" });
    expect(status).toBe(423);
    expect(Object.fromEntries(headers)).toMatchObject({
      Allow: "LOCK",
      "Content-Type": "application/xml; charset=utf-8",
    });
    expect(new TextDecoder().decode(body as Uint8Array)).toContain("<D:href>/home/ü</D:href>");
  });

  it("is no part of a response without a property", () => {
    expect(writePropstat(403, "", "cannot-modify-protected-property")).toBe("");
  });
});

describe("a name in a URL", () => {
  it.each([
    ["a-b_c.d~e", "a-b_c.d~e"],
    ["!$&'()*+,;=:@", "!$&'()*+,;=:@"],
    ["a b", "a%20b"],
    ["100%?#[]", "100%25%3F%23%5B%5D"],
    ['"<>\\^`{|}', "%22%3C%3E%5C%5E%60%7B%7C%7D"],
    ["ü, 😀", "%C3%BC,%20%F0%9F%98%80"],
    ["\ud800", "%EF%BF%BD"],
  ])("%j is %s", (name, encoded) => {
    expect(encodeSegment(name)).toBe(encoded);
  });
});

describe("a text in XML", () => {
  it.each([
    ["a-1 'b' =;", "a-1 'b' =;"],
    ["<&>", "&lt;&amp;&gt;"],
    ["\t\n", "\t\n"],
    ["\r", "&#13;"],
    ["\0\u001f\ufffe\ud800", "\ufffd\ufffd\ufffd\ufffd"],
    ["ü😀\u0085", "ü😀\u0085"],
  ])("%j is %j", (text, escaped) => {
    expect(escapeXmlText(text)).toBe(escaped);
  });

  it("has references for quotes and line ends in an attribute", () => {
    expect(escapeXmlAttribute("\"<&>'\t\r\n\0ü")).toBe("&quot;&lt;&amp;&gt;'&#9;&#13;&#10;\ufffdü");
  });
});

describe("the preference for a short response", () => {
  it.each([
    ["Prefer", "return=minimal"],
    ["Prefer", 'respond-async, Return="minimal"; a=b'],
    ["Brief", "t"],
    ["Brief", "T"],
  ])("is %s: %s", (name, value) => {
    expect(prefersMinimalReturn({ headers: field(name, value) })).toBe(true);
  });

  it.each([
    ["Prefer", "return=representation"],
    ["Prefer", "return=representation, return=minimal"],
    ["Prefer", "order=name"],
    ["Brief", "f"],
  ])("is not %s: %s", (name, value) => {
    expect(prefersMinimalReturn({ headers: field(name, value) })).toBe(false);
  });
});
