import { describe, expect, it } from "vitest";
import { createSessionCookie } from "../../../src/http/cookie.ts";

const sessionCookie = createSessionCookie("SVC_HTTP_SESSION", "/");

describe("the session cookie", () => {
  it.each([
    ["SVC_HTTP_SESSION=abc", "abc"],
    ["a=b; SVC_HTTP_SESSION=abc; c=d", "abc"],
    ["a=b;SVC_HTTP_SESSION=abc", "abc"],
    ["SVC_HTTP_SESSION=first; SVC_HTTP_SESSION=second", undefined],
    ["SVC_HTTP_SESSION=same;SVC_HTTP_SESSION = same", undefined],
    ["SVC_HTTP_SESSION=", undefined],
    ["SVC_HTTP_SESSION", undefined],
    ["svc_http_session=abc", undefined],
    ["XSVC_HTTP_SESSION=abc", undefined],
    ["a=SVC_HTTP_SESSION=abc", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("of %j is %j (5.1.1)", (cookie, id) => {
    expect(sessionCookie.read(new Headers(cookie === undefined ? {} : { cookie }))).toBe(id);
  });

  it.each([
    [false, "SVC_HTTP_SESSION=abc; Path=/; HttpOnly; SameSite=strict"],
    [true, "SVC_HTTP_SESSION=abc; Path=/; HttpOnly; SameSite=strict; Secure"],
  ])("is set with the attributes of the spec, over TLS: %s (5.1.1, CONTRACT 6.3)", (secure, value) => {
    expect(sessionCookie.set("abc", secure)).toBe(value);
  });

  it.each([
    ["a.b=1", "1"],
    ["axb=1", undefined],
    ["SVC_HTTP_SESSION=1", undefined],
    ["a.b=1; a.b=2", undefined],
  ])("of another name in %j is %j", (cookie, id) => {
    expect(createSessionCookie("a.b", "/files").read(new Headers({ cookie }))).toBe(id);
  });

  it.each(["__Host-files", "__Secure-files", "__host-files"])(
    "of the name %s is always Secure, for browsers drop it otherwise (RFC 6265bis 4.1.3)",
    (name) => {
      const cookie = createSessionCookie(name, "/");
      expect(cookie.set("abc", false)).toBe(`${name}=abc; Path=/; HttpOnly; SameSite=strict; Secure`);
      expect(cookie.expire(false)).toBe(`${name}=; Path=/; HttpOnly; SameSite=strict; Secure; Max-Age=0`);
    },
  );

  it("is forgotten by the same name and path (RFC 6265bis 5.7)", () => {
    expect(sessionCookie.expire(true)).toMatch(
      /^SVC_HTTP_SESSION=; (?=.*Path=\/(;|$))(?=.*Max-Age=0(;|$))(?=.*Secure)/,
    );
  });
});
