import { Request } from "@whatwg-node/fetch";
import { describe, expect, it } from "vitest";
import type { Connection } from "../../../../src/contracts/connection.ts";
import { isSameOrigin } from "../../../../src/http/origins/same-origin.ts";

function ask(
  headers: Record<string, string>,
  accepted: readonly string[] = [],
  publicOrigin = "",
  connection: Connection = {},
): boolean {
  const request = new Request("http://h.example/x", { method: "POST", headers });
  return isSameOrigin({ request, connection }, { acceptedOrigins: accepted, publicOrigin });
}

describe("the origin of a request", () => {
  it.each<readonly [headers: Record<string, string>, same: boolean]>([
    [{ host: "h.example" }, true],
    [{ host: "h.example", origin: "http://h.example" }, true],
    [{ host: "H.EXAMPLE", origin: "http://h.example" }, true],
    [{ host: "h.example:80", origin: "http://h.example" }, true],
    [{ host: "h.example:443", origin: "https://h.example" }, true],
    [{ host: "h.example:8080", origin: "http://h.example:8080" }, true],
    [{ host: "h.example:8080", origin: "http://h.example" }, false],
    [{ host: "h.example", origin: "http://h.example:8080" }, false],
    [{ host: "h.example", origin: "http://x.h.example" }, false],
    [{ host: "h.example", origin: "http://h.example.evil" }, false],
    [{ host: "h.example", origin: "null" }, false],
    [{ host: "h.example", origin: "file://" }, false],
    [{ host: "h.example", origin: "http://h.example, http://evil.example" }, false],
    [{ host: "h.example", origin: "data:h.example" }, false],
    [{ host: "h.example", referer: "http://h.example/a?b" }, true],
    [{ host: "h.example", referer: "http://evil.example/h.example" }, false],
    [{ host: "h.example", referer: "not a url" }, false],
    [{ host: "bad host", origin: "http://h.example" }, false],
    [{ host: "", origin: "http://h.example" }, false],
    [{ host: "", origin: "file://" }, false],
    [{ origin: "http://h.example" }, true],
    [{ origin: "http://evil.example" }, false],
    [{ host: "h.example", "sec-fetch-site": "same-origin" }, true],
    [{ host: "h.example", "sec-fetch-site": "none" }, true],
    [{ host: "h.example", "sec-fetch-site": "same-site" }, false],
    [{ host: "h.example", "sec-fetch-site": "cross-site", origin: "http://h.example" }, false],
  ])("%j is the service's own: %s (CONTRACT 6.5)", (headers, same) => {
    expect(ask(headers)).toBe(same);
  });

  it.each<readonly [headers: Record<string, string>, same: boolean]>([
    [{ host: "inner", origin: "https://files.example" }, true],
    [{ host: "inner", referer: "https://files.example/a" }, true],
    [{ host: "inner", origin: "http://inner" }, false],
    [{ host: "inner", origin: "http://files.example" }, false],
    [{ host: "inner" }, true],
  ])("%j is the service's own where that is told: %s (CONTRACT 6.5)", (headers, same) => {
    expect(ask(headers, [], "https://files.example")).toBe(same);
  });

  it("is not one without TLS if the request came over TLS; behind a proxy it may be one with TLS", () => {
    const [plain, secure] = ["http://h.example", "https://h.example"].map((origin) => ({ host: "h.example", origin }));
    expect([plain, secure].map((headers) => ask(headers ?? {}, [], "", { isSecure: true }))).toEqual([false, true]);
    expect([plain, secure].map((headers) => ask(headers ?? {}, [], "", { isSecure: false }))).toEqual([true, true]);
    expect(ask({ host: "h.example", referer: "http://h.example/a" }, [], "", { isSecure: true })).toBe(false);
  });

  it("may be one that is accepted, as a whole (CONTRACT 6.5)", () => {
    const accepted = ["https://app.example"];
    expect(ask({ host: "h", origin: "https://app.example", "sec-fetch-site": "cross-site" }, accepted)).toBe(true);
    for (const origin of ["https://app.example.evil", "https://app.exampl", "http://app.example", "app.example"]) {
      expect(ask({ host: "h", origin }, accepted)).toBe(false);
    }
  });
});
