import { describe, expect, it } from "vitest";
import { toClientCertificate } from "../../../../src/runtimes/workers/client-certificate.ts";

const VERIFIED = {
  certVerified: "SUCCESS",
  certRevoked: "0",
  certSubjectDNRFC2253: "CN=alice,O=Example",
  certRFC9440: `:${"A".repeat(100)}:`,
};

describe("the client certificate of a Worker", () => {
  it("is one that Cloudflare has verified, in PEM, with its common name", () => {
    const pem = `-----BEGIN CERTIFICATE-----\n${"A".repeat(64)}\n${"A".repeat(36)}\n-----END CERTIFICATE-----\n`;
    expect(toClientCertificate(VERIFIED)).toEqual({ pem, commonName: "alice" });
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["an empty object", {}],
    ["one that was not presented", { ...VERIFIED, certVerified: "NONE" }],
    ["one that did not verify", { ...VERIFIED, certVerified: "FAILED:self signed certificate" }],
    ["one that was revoked", { ...VERIFIED, certRevoked: "1" }],
    ["one that may be revoked", { ...VERIFIED, certRevoked: "" }],
    ["one that was too large", { ...VERIFIED, certRFC9440: "" }],
    ["one that is no byte sequence", { ...VERIFIED, certRFC9440: "AAAA" }],
  ])("is none for %s", (_what, auth) => {
    expect(toClientCertificate(auth)).toBeUndefined();
  });

  it.each([
    ["CN=alice", "alice"],
    ["O=Example,CN=alice", "alice"],
    ["O=a\\,CN=mallory,CN=alice", "alice"],
    ['O="a,CN=mallory",CN=alice', "alice"],
    ["cn=alice+UID=7", "alice"],
    ["2.5.4.3=alice", "alice"],
    ["CN=J\\C3\\BCrgen", "Jürgen"],
    ["CN=Müller\\, Jürgen", "Müller, Jürgen"],
    ['CN="a, b"', "a, b"],
    ["CN=a\\\\b", "a\\b"],
    ["CN=alice,CN=bob", undefined],
    ["O=Example", undefined],
    ["CN=", undefined],
    ["CN=#0403616263", undefined],
    ["CN=\\FF", undefined],
    ['CN="open', undefined],
    ["CN=alice,nonsense", undefined],
    ["", undefined],
  ])("has for the subject %s the common name %s", (certSubjectDNRFC2253, expected) => {
    expect(toClientCertificate({ ...VERIFIED, certSubjectDNRFC2253 })?.commonName).toBe(expected);
  });
});
