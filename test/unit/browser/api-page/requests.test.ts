import { describe, expect, it } from "vitest";
import { prepareRequest, type ViewerRequest } from "../../../../src/browser/api-page/requests.ts";

const SERVICE = "https://files.example/files";

function prepare(url: string, headers: Record<string, string> = {}, service = SERVICE): ViewerRequest {
  return prepareRequest({ url, headers }, service);
}

describe("prepareRequest", () => {
  it.each([
    ["/home/a%2Fb%2fc.txt", "/home/a/b/c.txt"],
    ["/home/a%2Fb%20c%25.txt?x=%2F#%2F", "/home/a/b%20c%25.txt?x=%2F#%2F"],
    ["/home/a%2F", "/home/a/"],
    ["/home/", "/home/"],
    ["/home/?path=a%2Fb", "/home/?path=a%2Fb"],
    ["/home/.../..a%2Fb..", "/home/.../..a/b.."],
  ])("gives the path of %s its slashes", (from, to) => {
    expect(prepare(SERVICE + from).url).toBe(SERVICE + to);
  });

  it.each([
    "/home/..%2Fx",
    "/home/a%2F..%2F..%2F__svc__",
    "/home/%2e%2E%2fx",
    "/home/a%2F.",
    "/__svc__/a%2Fb",
    "/homes/a%2Fb",
  ])("leaves %s for the service to refuse", (path) => {
    expect(prepare(SERVICE + path).url).toBe(SERVICE + path);
  });

  it.each([
    ["/home/..", "/home/..%2F"],
    ["/home/../", "/home/..%2F"],
    ["/home/%2e/?x=1", "/home/%2e%2F?x=1"],
  ])("has the service refuse %s, which a browser would leave the files by", (from, to) => {
    expect(prepare(SERVICE + from).url).toBe(SERVICE + to);
  });

  it("keeps the browser from opening its own login dialog", () => {
    expect(prepare(`${SERVICE}/home/`).headers).toEqual({ "X-Requested-With": "XMLHttpRequest" });
  });

  it("sends no cookies with a request that has an Authorization header", () => {
    const headers = { authorization: "session 1" };
    expect(prepare(`${SERVICE}/home/`, { ...headers })).toMatchObject({ headers, credentials: "omit" });
  });

  it("leaves the content type */* to the browser, and keeps other types", () => {
    const any = prepare(`${SERVICE}/home/a`, { "Content-Type": "*/*" });
    expect(any.headers).toEqual({ "X-Requested-With": "XMLHttpRequest" });
    expect(prepare(`${SERVICE}/home/`, { "Content-Type": "application/json" }).headers).toMatchObject({
      "Content-Type": "application/json",
    });
  });

  it.each(["https://other.example/files/home/a%2Fb", "https://files.example/filesx/home/a%2Fb"])(
    "leaves %s as it is",
    (url) => {
      expect(prepare(url)).toEqual({ url, headers: {} });
    },
  );

  it("supports a service at the root", () => {
    expect(prepare("https://files.example/home/a%2Fb", {}, "https://files.example").url).toBe(
      "https://files.example/home/a/b",
    );
  });
});
