import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseIpAddress } from "../../../src/http/ip-address.ts";
import { amount } from "../../support/trust.ts";

const spell = (text: string) => parseIpAddress(text)?.toString();

describe("an IP address", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["0.0.0.0", "0.0.0.0"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["::", "::"],
    ["1::", "1::"],
    ["::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"],
    ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
  ])("%s is written as %s (RFC 5952)", (text, spelling) => {
    expect(spell(text)).toBe(spelling);
  });

  it.each(["::ffff:192.0.2.1", "::FFFF:c000:201", "0:0:0:0:0:ffff:192.0.2.1"])("%s is IPv4", (text) => {
    expect(spell(text)).toBe("192.0.2.1");
  });

  it("keeps IPv4-compatible addresses apart from IPv4 (RFC 4291 2.5.5.1)", () => {
    expect(spell("::192.0.2.1")).toBe("::c000:201");
  });

  it.each([
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "192.0.2.07",
    "192.0.2.256",
    "::ffff:192.0.2.07",
    "00001::",
    "10000::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "fe80::1%eth0",
    "[::1]",
    " ::1",
    "::1\n",
    "",
    ":",
  ])("%j is none", (text) => {
    expect(parseIpAddress(text)).toBeUndefined();
  });

  it("is read as URLs read it, wherever it is valid", () => {
    const piece = fc.constantFrom(
      ":",
      "::",
      "0",
      "1",
      "ffff",
      "00",
      "0db8",
      "abcde",
      "1.2.3.4",
      "01.2.3.4",
      "256.1.1.1",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV6(),
          fc.array(piece, { maxLength: 16 }).map((pieces) => pieces.join("")),
        ),
        (text) => {
          fc.pre(text.includes(":"));
          const url = `http://[${text}]/`;
          const hostname = URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
          const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(hostname ?? "");
          const [high = 0, low = 0] = mapped?.slice(1).map((group) => Number.parseInt(group, 16)) ?? [];
          const expected = mapped === null ? hostname : [high >> 8, high & 255, low >> 8, low & 255].join(".");
          expect([text, spell(text)]).toEqual([text, expected]);
        },
      ),
      { numRuns: amount({ short: 800, long: 3000 }) },
    );
  });
});
