import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAuthorization } from "../../../src/http/authorization.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");

describe("an Authorization value", () => {
  it.each([
    [null, undefined],
    ["session abc", { scheme: "session", id: "abc" }],
    ["SESSION  abc ", { scheme: "session", id: "abc" }],
    [`Basic ${encode("alice:secret")}`, { scheme: "basic", username: "alice", password: "secret" }],
    [`basic ${encode("alice:a:b")}`, { scheme: "basic", username: "alice", password: "a:b" }],
    [`Basic ${encode(":")}`, { scheme: "basic", username: "", password: "" }],
    [`Basic ${encode("zo\u00eb:\u00df")}`, { scheme: "basic", username: "zo\u00eb", password: "\u00df" }],
    [`Basic ${encode("\ufeffalice:x")}`, { scheme: "basic", username: "\ufeffalice", password: "x" }],
    ["Basic", { scheme: "invalid" }],
    ["Basic  ", { scheme: "invalid" }],
    [`Basic ${encode("alice")}`, { scheme: "invalid" }],
    [`Basic ${encode("a\nb:c")}`, { scheme: "invalid" }],
    [`Basic ${encode("a:b\0")}`, { scheme: "invalid" }],
    ["Basic ///w==", { scheme: "invalid" }],
    [`Basic ${Buffer.from("zo\u00eb:x", "latin1").toString("base64")}`, { scheme: "invalid" }],
    ["Basic ***", { scheme: "invalid" }],
    ["session", { scheme: "invalid" }],
    ["x session abc", { scheme: "invalid" }],
    ["session a b", { scheme: "invalid" }],
    ["sessionabc", { scheme: "invalid" }],
    ["Bearer x", { scheme: "bearer", token: "x" }],
    ["Bearer", { scheme: "invalid" }],
    ["Bearer a b", { scheme: "invalid" }],
    ["", { scheme: "invalid" }],
  ])("%j is read, or refused (5.1, CONTRACT 6.1)", (value, authorization) => {
    expect(parseAuthorization(value)).toEqual(authorization);
  });

  it("never makes the reader throw (SECURITY 11)", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.base64String().map((token) => `Basic ${token}`),
    );
    fc.assert(fc.property(texts, (text) => parseAuthorization(text) !== undefined));
  });
});
