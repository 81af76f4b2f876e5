import { describe, expect, it } from "vitest";
import { parseLockBody } from "../../../src/webdav/lock-body.ts";
import { toPropertyKey } from "../../../src/webdav/property-name.ts";
import { parsePropfindBody } from "../../../src/webdav/propfind-body.ts";
import { parseXmlBody } from "../../../src/webdav/xml.ts";
import { textOf } from "../../../src/webdav/xml-element.ts";
import { codeOf, toBytes } from "./bytes.ts";
import { LOCKS, PROPFINDS } from "./recorded.ts";

function propfind(content: string) {
  return parsePropfindBody(toBytes(`<D:propfind xmlns:D="DAV:">${content}</D:propfind>`));
}

function lock(content: string) {
  return parseLockBody(toBytes(`<D:lockinfo xmlns:D="DAV:">${content}</D:lockinfo>`));
}

const SCOPE = "<D:lockscope><D:exclusive/></D:lockscope>";
const TYPE = "<D:locktype><D:write/></D:locktype>";

describe("the body of a PROPFIND", () => {
  it.each(Object.entries(PROPFINDS))("of %s is read", (_, [body, keys]) => {
    const query = parsePropfindBody(toBytes(body));
    expect(query.kind === "prop" ? query.names.map(toPropertyKey) : query.kind).toEqual(keys);
  });

  it("asks for names, for all properties with others, or for some", () => {
    expect(propfind("<D:propname/>")).toEqual({ kind: "propname" });
    expect(propfind("<D:allprop/>")).toEqual({ kind: "allprop", include: [] });
    const name = { namespace: "DAV:", name: "supportedlock" };
    expect(propfind("<D:allprop/><D:include><D:supportedlock/></D:include>")).toEqual({
      kind: "allprop",
      include: [name],
    });
    expect(propfind("<D:prop><D:supportedlock/></D:prop>")).toEqual({ kind: "prop", names: [name] });
    expect(propfind("<D:prop/>")).toEqual({ kind: "prop", names: [] });
  });

  it("names a property once, though the client does twice", () => {
    const query = propfind('<D:prop><D:a/><x:a xmlns:x="DAV:"/><a/></D:prop>');
    expect(query).toEqual({
      kind: "prop",
      names: [
        { namespace: "DAV:", name: "a" },
        { namespace: "", name: "a" },
      ],
    });
  });

  it("may have other elements, which say nothing", () => {
    const others = '<x:prop xmlns:x="urn:1"/>text<D:expired/>';
    expect(propfind(`${others}<D:propname/>${others}`)).toEqual({ kind: "propname" });
  });

  it.each(["", "<D:prop/><D:prop/>", "<D:prop/><D:allprop/>", "<D:include/>", "<prop/>", "text"])(
    "is refused with %j in it",
    (content) => {
      expect(codeOf(() => propfind(content))).toBe("propfind-malformed");
    },
  );

  it.each(["<propfind><allprop/></propfind>", '<D:prop xmlns:D="DAV:"><D:prop/></D:prop>'])(
    "is refused if it is %s",
    (body) => {
      expect(codeOf(() => parsePropfindBody(toBytes(body)))).toBe("propfind-malformed");
    },
  );

  it("is refused if its names would be long in each response", () => {
    const names = (length: number) => `<D:prop xmlns:n="${"n".repeat(length)}">${"<n:a/>".repeat(200)}</D:prop>`;
    expect(codeOf(() => propfind(names(100)))).toBeUndefined();
    expect(codeOf(() => propfind(names(1000)))).toBe("xml-too-complex");
  });
});

describe("the body of a LOCK", () => {
  it.each(Object.entries(LOCKS))("of %s is read", (_, [body, scope, owner]) => {
    const request = parseLockBody(toBytes(body));
    expect(request?.scope).toBe(scope);
    expect(request?.owner === "" ? "" : textOf(parseXmlBody(toBytes(request?.owner ?? "")))).toBe(owner);
  });

  it("is absent if the lock is to be refreshed", () => {
    expect(parseLockBody(new Uint8Array())).toBeUndefined();
  });

  it("has an owner that is kept with all in it, and with the prefix that responses use", () => {
    const owner =
      '<x:owner xml:lang="de" id="1" xmlns:x="DAV:"><x:href>a&amp;b</x:href><c d="&quot;"/><!-- --></x:owner>';
    expect(lock(SCOPE + TYPE + owner)?.owner).toBe(
      '<D:owner xmlns:D="DAV:" xml:lang="de"><x:href xmlns:x="DAV:">a&amp;b</x:href><c xmlns="" d="&quot;"/></D:owner>',
    );
  });

  it.each([
    "",
    SCOPE,
    TYPE,
    `${SCOPE}${SCOPE}${TYPE}`,
    `<D:lockscope/>${TYPE}`,
    `<D:lockscope><D:exclusive/><D:shared/></D:lockscope>${TYPE}`,
    `${SCOPE}${TYPE}<D:owner/><D:owner/>`,
  ])("is refused with %s in it", (content) => {
    expect(codeOf(() => lock(content))).toBe("lock-malformed");
    expect(codeOf(() => parseLockBody(toBytes("<lockinfo/>")))).toBe("lock-malformed");
  });

  it.each([
    `<D:lockscope><D:local/></D:lockscope>${TYPE}`,
    `<D:lockscope><exclusive/></D:lockscope>${TYPE}`,
    `${SCOPE}<D:locktype><D:read/></D:locktype>`,
  ])("asks for what there is not with %s", (content) => {
    expect(codeOf(() => lock(content))).toBe("lock-unsupported");
  });

  it("has an owner of at most 4 KiB", () => {
    const owner = (size: number) => `${SCOPE}${TYPE}<D:owner>${"ü".repeat(size / 2)}</D:owner>`;
    const tags = '<D:owner xmlns:D="DAV:"></D:owner>'.length;
    expect(codeOf(() => lock(owner(4096 - tags)))).toBeUndefined();
    expect(codeOf(() => lock(owner(4098 - tags)))).toBe("lock-owner-too-large");
  });
});
