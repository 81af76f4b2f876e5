import { describe, expect, it } from "vitest";
import { readSessionCookie, toExpiredSessionCookie, toSessionCookie } from "../../../src/http/cookie.ts";

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
    expect(readSessionCookie(new Headers(cookie === undefined ? {} : { cookie }))).toBe(id);
  });

  it.each([
    [false, "SVC_HTTP_SESSION=abc; Path=/; HttpOnly; SameSite=strict"],
    [true, "SVC_HTTP_SESSION=abc; Path=/; HttpOnly; SameSite=strict; Secure"],
  ])("is set with the attributes of the spec, over TLS: %s (5.1.1, CONTRACT 6.3)", (secure, value) => {
    expect(toSessionCookie("abc", secure)).toBe(value);
  });

  it("is forgotten by the same name and path (RFC 6265bis 5.7)", () => {
    expect(toExpiredSessionCookie(true)).toMatch(
      /^SVC_HTTP_SESSION=; (?=.*Path=\/(;|$))(?=.*Max-Age=0(;|$))(?=.*Secure)/,
    );
  });
});
