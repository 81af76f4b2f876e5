import { describe, expect, it } from "vitest";
import { createTestService } from "../../support/service.ts";

/** Paths below `/home/` that no client may send (CONTRACT 2.1). */
const malformed: readonly string[] = [
  "a%2fb",
  "a%2Fb",
  "%2f",
  "..%2f..%2fbob",
  "a%5cb",
  "a%5Cb",
  "..%5c..%5cbob",
  "a\\b",
  "a%00",
  "%00",
  "a%00.txt",
  "a%01",
  "a%09b",
  "a%0a",
  "a%0d%0aX:y",
  "a%1f",
  "a%7f",
  "a%c2%80",
  "a%C2%9F",
  "a%ff",
  "%fe%fe",
  "%c3",
  "%c3%28",
  "%e2%82",
  "%c0%af",
  "%c0%ae%c0%ae",
  "%e0%80%af",
  "%ed%a0%80",
  "%ed%b0%80",
  "%f4%90%80%80",
  "%f8%88%80%80%80",
  "%",
  "a%",
  "a%2",
  "a%zz",
  "a%2x",
  "%u002e",
  "caf\u00e9",
  "a b",
  "a\tb",
  "/",
  "/a",
  "a//b",
  "a//",
  ".",
  "..",
  "./",
  "../",
  "./a",
  "../a",
  "a/.",
  "a/..",
  "a/./b",
  "a/../b",
  "a/../../bob/b",
  "%2e",
  "%2E",
  "%2e%2e",
  "%2E%2e/",
  ".%2e/a",
  "%2e./a",
  "a/%2e%2e/b",
  "a/%2e%2e",
];

/** Names that must come and go as they are (CONTRACT 2.1, SECURITY 3). */
const awkward: readonly string[] = [
  "a b",
  " a",
  "a ",
  "a+b",
  "a.",
  "a..",
  "...",
  "..a",
  ".hidden",
  "-rf",
  "~",
  "~root",
  "%",
  "100%",
  "%41",
  "%2e%2e",
  "%2f",
  "%00",
  "%25",
  "a?b",
  "a#b",
  "a&b=c",
  "a;b",
  "a:b",
  "C:",
  "a*b",
  "a|b",
  "<b>",
  '"',
  "'",
  "`id`",
  "$(id)",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a name may look like one.
  "${USER}",
  "CON",
  "nul.txt",
  "caf\u00e9",
  "cafe\u0301",
  "\u00e5",
  "\u212b",
  "\u{1f600}",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "\ufeffbom",
  "a\u00a0b",
  "a\u2028b",
  "\u202egnp.exe",
  "\u3000",
  "\ufffd",
  "\uff0f",
  "\u2215",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "undefined",
  "null",
  "home",
  "__svc__x",
  "__SVC__",
  "x".repeat(255),
];

describe("a malformed path", () => {
  it.each(malformed)("/home/%s is answered 400 for every method, in every place (CONTRACT 2.1)", async (path) => {
    const { call, storage } = await createTestService({ files: { "/alice/a/b": "x", "/bob/b": "x" } });
    for (const target of [`/home/${path}`, `/home/a/${path}`]) {
      for (const method of ["GET", "HEAD", "PUT", "DELETE", "POST", "MKCOL"]) {
        const answer = await call(method, target, { variant: "json", ...(method === "PUT" && { body: "x" }) });
        expect([method, target, answer.status]).toEqual([method, target, 400]);
        if (method !== "HEAD") expect(answer.json()).toEqual({ errors: [{ message: expect.any(String) }] });
      }
    }
    const members: string[] = [];
    for await (const { name } of storage.list("/alice")) members.push(name);
    expect(members).toEqual(["a"]);
  });

  it("is answered 400 below a base path too (CONTRACT 2.7)", async () => {
    const { call } = await createTestService({ basePath: "/files" });
    for (const path of ["a%2fb", "../home/", "%2e%2e", "a//b", "%ff"]) {
      expect((await call("GET", `/files/home/${path}`)).status).toBe(400);
    }
  });

  it("is told as a page to browsers (4.6)", async () => {
    const { call } = await createTestService();
    const answer = await call("GET", "/home/%ff", { variant: "html" });
    expect(answer.status).toBe(400);
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
  });
});

describe("an awkward name", () => {
  it.each(awkward)("%j of a file comes back as it is (CONTRACT 2.1, SECURITY 3)", async (name) => {
    const { call, stored } = await createTestService();
    const path = `/home/${encodeURIComponent(name)}`;
    expect((await call("PUT", path, { body: `content of ${name}` })).status).toBe(201);
    expect(await stored(`/alice/${name}`)).toBe(`content of ${name}`);
    expect((await call("GET", "/home/", { variant: "json" })).json()).toMatchObject({ content: [{ name }] });
    const file = await call("GET", path);
    expect(file.text).toBe(`content of ${name}`);
    expect(decodeURIComponent(file.header("server-path") ?? "")).toBe(`/${name}`);
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await call("GET", "/home/", { variant: "json" })).json()).toEqual({ content: [] });
  });

  it.each(awkward)("%j of a folder comes back as it is (CONTRACT 2.1, SECURITY 3)", async (name) => {
    const { call, storage } = await createTestService();
    const path = `/home/${encodeURIComponent(name)}/`;
    expect((await call("PUT", path)).status).toBe(201);
    expect((await storage.stat(`/alice/${name}`))?.kind).toBe("folder");
    expect((await call("PUT", `${path}inside`, { body: "x" })).status).toBe(201);
    expect((await call("GET", path, { variant: "json" })).json()).toMatchObject({ content: [{ name: "inside" }] });
    const redirect = await call("GET", path.slice(0, -1));
    expect(redirect.status).toBe(302);
    expect((await call("GET", redirect.header("location") ?? "", { variant: "json" })).status).toBe(200);
    expect((await call("DELETE", path)).status).toBe(204);
    expect(await storage.stat(`/alice/${name}`)).toBeUndefined();
  });

  it.each(awkward)("%j of a member can be a command's target (CONTRACT 2.2)", async (target) => {
    const { call, storage } = await createTestService();
    for (const command of ["create-folder", "delete"]) {
      const body = JSON.stringify({ commands: [{ command, target }] });
      const headers = { "content-type": "application/json" };
      expect((await call("POST", "/home/", { body, headers })).json()).toEqual({
        results: [{ target, message: null }],
      });
      expect((await storage.stat(`/alice/${target}`))?.kind).toBe(command === "delete" ? undefined : "folder");
    }
  });

  it("is told from another one, however alike (SECURITY 3)", async () => {
    const { call } = await createTestService();
    const alike = [
      "caf\u00e9",
      "cafe\u0301",
      "CAF\u00c9",
      "caf\u00e9 ",
      "caf%C3%A9",
      "\u00e5",
      "\u212b",
      "A\u030a",
      "a+b",
      "a b",
    ];
    for (const name of alike) await call("PUT", `/home/${encodeURIComponent(name)}`, { body: name });
    for (const name of alike) expect((await call("GET", `/home/${encodeURIComponent(name)}`)).text).toBe(name);
  });

  it("is decoded exactly once (CONTRACT 2.1, SECURITY 1)", async () => {
    const { call, stored } = await createTestService({ files: { "/bob/b": "bob's" } });
    expect((await call("PUT", "/home/%252e%252e", { body: "once" })).status).toBe(201);
    expect(await stored("/alice/%2e%2e")).toBe("once");
    expect((await call("GET", "/home/%252e%252e/bob/b")).status).toBe(404);
    expect((await call("GET", "/home/..%252fbob%252fb")).status).toBe(404);
  });

  it("takes + for a plus, not for a blank (SECURITY 3)", async () => {
    const { call, stored } = await createTestService();
    await call("PUT", "/home/a+b", { body: "plus" });
    expect([await stored("/alice/a+b"), await stored("/alice/a b")]).toEqual(["plus", undefined]);
  });

  it("may be spelt with needless or lower-case escapes (RFC 3986 6.2.2)", async () => {
    const { call } = await createTestService({ files: { "/alice/caf\u00e9": "x" } });
    for (const path of ["/home/caf%C3%A9", "/home/caf%c3%a9", "/home/%63%61%66%C3%A9", "/h%6fme/caf%C3%A9"]) {
      expect([path, (await call("GET", path)).text]).toEqual([path, "x"]);
    }
  });
});
