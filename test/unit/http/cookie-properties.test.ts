import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSessionCookie } from "../../../src/http/cookie.ts";
import { readForwardedClient } from "../../../src/http/forwarded.ts";
import { amount } from "../../support/trust.ts";

const NAME = "SVC_HTTP_SESSION";
const sessionCookie = createSessionCookie(NAME, "/");
const hexadecimal = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 1, maxLength: 64 });

describe("the session's cookie", () => {
  const alike = fc.constantFrom(`x${NAME}`, `${NAME}2`, NAME.toLowerCase(), "a", "__Host-x", "", `${NAME}%`);
  const strange = fc.tuple(alike, hexadecimal).map(([name, value]) => `${name}=${value}`);
  const broken = fc.constantFrom("", "=", ";;", "novalue", '"', `${NAME}`, "a=b=c", "%=%zz");
  const gap = fc.constantFrom(";", "; ", " ; ");

  it("is found among any others, by its whole name; of several none counts", () => {
    const others = fc.array(fc.oneof(strange, broken), { maxLength: 5 });
    fc.assert(
      fc.property(others, fc.array(hexadecimal, { maxLength: 2 }), others, gap, (before, ids, behind, between) => {
        const header = [...before, ...ids.map((id) => `${NAME}=${id}`), ...behind].join(between);
        expect([header, sessionCookie.read(new Headers({ cookie: header }))]).toEqual([
          header,
          ids.length === 1 ? ids[0] : undefined,
        ]);
      }),
      { numRuns: amount({ short: 500, long: 2000 }) },
    );
  });

  it("comes back from what sets it, and is none after what ends it", () => {
    fc.assert(
      fc.property(hexadecimal, fc.boolean(), (id, secure) => {
        const cookieOf = (set: string) => new Headers({ cookie: set.split(";", 1)[0] ?? "" });
        expect(sessionCookie.read(cookieOf(sessionCookie.set(id, secure)))).toBe(id);
        expect(sessionCookie.read(cookieOf(sessionCookie.expire(secure)))).toBeUndefined();
      }),
    );
  });

  it("of any text is a text or none, never a failure", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(NAME, "=", ";", " ", '"', "%", "a", "é", "\t"), maxLength: 20 }),
        (text) => {
          expect(["string", "undefined"]).toContain(typeof sessionCookie.read(new Headers({ cookie: text })));
        },
      ),
    );
  });
});

describe("the client that a proxy names (RFC 7239, CONTRACT 6.7)", () => {
  const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
  const others = fc.array(fc.constantFrom("proto=https", 'host="a,b;c"', "by=_x", 'ext="\\""'), { maxLength: 3 });

  it.each(["Forwarded", "X-Forwarded-For"])(
    "is the first of %s, with its port, in one spelling of its address",
    (name) => {
      fc.assert(
        fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), port, others, fc.nat(3), (address, number, more, at) => {
          const isIpv6 = address.includes(":");
          // A mapped address is IPv4's; a dotted end is one of many spellings.
          fc.pre(!isIpv6 || !address.includes("."));
          const node = `${isIpv6 ? `[${address}]` : address}${number === undefined ? "" : `:${number}`}`;
          const pairs = [...more.slice(0, at), `for="${node}"`, ...more.slice(at)];
          const value = name === "Forwarded" ? `${pairs.join(";")}, for=192.0.2.9` : `${node}, 192.0.2.9`;
          const spelt = isIpv6 ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address;
          expect(readForwardedClient(new Headers({ [name]: value }), name)).toEqual({
            address: spelt,
            port: number ?? 0,
            family: isIpv6 ? "IPv6" : "IPv4",
          });
        }),
        { numRuns: amount({ short: 250, long: 1000 }) },
      );
    },
  );
});
