import { describe, expect, it } from "vitest";
import { type DepthMethod, parseDepth } from "../../../src/webdav/depth.ts";
import { parseDestination } from "../../../src/webdav/destination.ts";
import { parseLockToken, requireLockToken } from "../../../src/webdav/lock-token.ts";
import { parseOcMtime } from "../../../src/webdav/oc-mtime.ts";
import { mayOverwrite } from "../../../src/webdav/overwrite.ts";
import { parseReference } from "../../../src/webdav/reference.ts";
import { parseTimeout } from "../../../src/webdav/timeout.ts";
import { codeOf, field } from "./bytes.ts";

const OWN = { host: "files.example:8080", publicOrigin: "https://public.example" };

describe("Depth (RFC 4918 10.2)", () => {
  it.each([
    ["PROPFIND", "0", "0"],
    ["PROPFIND", "1", "1"],
    ["PROPFIND", "Infinity", "infinity"],
    ["COPY", "0", "0"],
    ["LOCK", "INFINITY", "infinity"],
    ["MOVE", "infinity", "infinity"],
    ["DELETE", "infinity", "infinity"],
  ] as const satisfies readonly (readonly [DepthMethod, string, string])[])(
    "of a %s may be %s",
    (method, value, depth) => {
      expect(parseDepth(method, field("Depth", value))).toBe(depth);
    },
  );

  it.each(["PROPFIND", "COPY", "LOCK", "MOVE", "DELETE"] as const)("of a %s is infinity by default", (method) => {
    expect(parseDepth(method, new Headers())).toBe("infinity");
  });

  it.each([
    ["PROPFIND", "2"],
    ["PROPFIND", ""],
    ["PROPFIND", "1,noroot"],
    ["PROPFIND", "01"],
    ["COPY", "1"],
    ["LOCK", "1"],
    ["MOVE", "0"],
    ["DELETE", "0"],
    ["DELETE", "constructor"],
  ] as const)("of a %s is not %j", (method, value) => {
    expect(codeOf(() => parseDepth(method, field("Depth", value)))).toBe("depth-invalid");
  });
});

describe("Overwrite (RFC 4918 10.6)", () => {
  it.each([
    ["T", true],
    ["t", true],
    ["F", false],
    ["f", false],
  ])("may be %s", (value, expected) => {
    expect(mayOverwrite(field("Overwrite", value))).toBe(expected);
  });

  it("is T by default, and nothing else", () => {
    expect(mayOverwrite(new Headers())).toBe(true);
    for (const value of ["", "true", "T, F"]) {
      expect(codeOf(() => mayOverwrite(field("Overwrite", value)))).toBe("overwrite-invalid");
    }
  });
});

describe("Destination (RFC 4918 10.3)", () => {
  const pathOf = (value: string) => parseDestination(field("Destination", value), OWN).path;
  const refusalOf = (value: string) => codeOf(() => pathOf(value));

  it.each([
    ["/home/a", "/home/a"],
    ["http://files.example:8080/home/a%20b/", "/home/a%20b/"],
    ["https://files.example/home/a", "/home/a"],
    ["HTTP://FILES.EXAMPLE/home/a", "/home/a"],
    ["davs://public.example:8443/home/a", "/home/a"],
    ["https://public.example", "/"],
    ["/home/%2e%2e%2f", "/home/%2e%2e%2f"],
    ["/outside", "/outside"],
    ["/home/a://files.example/b", "/home/a://files.example/b"],
  ])("%s names %s", (value, path) => {
    expect(pathOf(value)).toBe(path);
  });

  it.each([
    "",
    "home/a",
    "*",
    "//files.example/home/a",
    "https:/home/a",
    "https:///home/a",
    "https://alice@files.example/home/a",
    "https://alice:secret@files.example/home/a",
    "https://files.example:x/home/a",
    "https://files.example\\@other.example/home/a",
    "https://[::1/home/a",
    "/home/a#b",
    "/home/a?b",
    "/home/a b",
    "/home/../a",
    "/home/./a",
    "/home/%2E%2e/a",
    "https://files.example/..",
    "/home/\u00fc",
    "</home/a>",
  ])("is refused if it is %j", (value) => {
    expect(refusalOf(value)).toBe("destination-header-invalid");
  });

  it("must be there", () => {
    expect(codeOf(() => parseDestination(new Headers(), OWN))).toBe("destination-header-missing");
  });

  it.each(["https://other.example/home/a", "https://files.example.other/home/a", "http://127.0.0.1/home/a"])(
    "is elsewhere if it is %s, which the error names",
    (value) => {
      expect(refusalOf(value)).toBe("destination-elsewhere");
      const host = new URL(value).hostname;
      const values = { destination: host, host: "files.example, public.example" };
      expect(() => pathOf(value)).toThrow(expect.objectContaining({ failure: "bad-gateway", values }));
    },
  );

  it("is compared with the host alone if there is no public origin, also by its address", () => {
    const own = { host: "[::1]:8080", publicOrigin: "" };
    expect(parseReference("http://[0:0::1]/home/a", own).kind).toBe("own");
    expect(parseReference("http://public.example/home/a", own)).toEqual({ kind: "elsewhere", host: "public.example" });
    expect(parseReference("/home/a", { host: "", publicOrigin: "" }).kind).toBe("own");
    expect(parseReference("http://a/home/a", { host: "", publicOrigin: "" }).kind).toBe("elsewhere");
  });
});

describe("Timeout (RFC 4918 10.7)", () => {
  it.each([
    ["Second-600", 600],
    ["second-180", 180],
    ["Second-3600", 3600],
    ["Second-3601", 3600],
    ["Second-4100000000", 3600],
    ["Second-99999999999999999999999", 3600],
    ["Second-0", 1],
    ["Infinite", 3600],
    ["Infinite, Second-4100000000", 3600],
    ["Extended, Second-60 , Second-90", 60],
    ["Second-, Second--5, Second-1.5, 600", 3600],
    ["", 3600],
  ])("%j asks for %i seconds, at most 3,600", (value, seconds) => {
    expect(parseTimeout(field("Timeout", value), 3600)).toBe(seconds);
  });

  it("is the longest one by default", () => {
    expect(parseTimeout(new Headers(), 600)).toBe(600);
  });
});

describe("Lock-Token (RFC 4918 10.5)", () => {
  it.each(["<urn:uuid:1>", "urn:uuid:1", " <urn:uuid:1>\t"])("%j has a token", (value) => {
    expect(parseLockToken(field("Lock-Token", value))).toBe("urn:uuid:1");
    expect(requireLockToken(field("Lock-Token", value))).toBe("urn:uuid:1");
  });

  it.each([
    "",
    "<>",
    "<urn:uuid:1",
    "urn:uuid:1>",
    "<<urn:uuid:1>>",
    "<a b:c>",
    "token",
    '<urn:"a">',
    "<urn:1>, <urn:2>",
  ])("%j has none", (value) => {
    expect(parseLockToken(field("Lock-Token", value))).toBeUndefined();
    expect(codeOf(() => requireLockToken(field("Lock-Token", value)))).toBe("lock-token-invalid");
  });

  it("must be there to unlock", () => {
    expect(parseLockToken(new Headers())).toBeUndefined();
    expect(codeOf(() => requireLockToken(new Headers()))).toBe("lock-token-missing");
  });
});

describe("X-OC-Mtime", () => {
  it.each([
    ["1778000000", "2026-05-05T16:53:20.000Z"],
    ["1778000000.5", "2026-05-05T16:53:20.500Z"],
    ["1778000000.123456789", "2026-05-05T16:53:20.123Z"],
    ["0", "1970-01-01T00:00:00.000Z"],
    ["-1", "1969-12-31T23:59:59.000Z"],
  ])("%s is %s", (value, time) => {
    expect(parseOcMtime(field("X-OC-Mtime", value))?.toISOString()).toBe(time);
  });

  it.each(["", "now", "0x10", "1e9", "1.", ".5", "--1", "1,5", "9999999999999", "NaN", "253402300800", "-62135596801"])(
    "is refused if it is %j",
    (value) => {
      expect(codeOf(() => parseOcMtime(field("X-OC-Mtime", value)))).toBe("modified-time-invalid");
    },
  );

  it("may be absent", () => {
    expect(parseOcMtime(new Headers())).toBeUndefined();
  });
});
