import JSZip from "jszip";
import { describe, expect, it } from "vitest";
import { createTestService } from "../support/service.ts";

/*
 * Each test is named after a published failure of another project, and shows that it does not happen here (SECURITY 20
 * to 22).
 */

describe("headers (SECURITY 20)", () => {
  it.each(['x";filename="evil.sh', "a\\", 'a"', "naïve €.txt", "a;b", "%22", "x\u2028y"])(
    "gin CVE-2023-29401: the name %j of a download is no more than a name",
    async (name) => {
      const path = encodeURIComponent(name);
      const { call, storage } = await createTestService();
      const put = await call("PUT", `/home/${path}`, { body: "x" });
      // What no name may be is no file, neither.
      if (put.status !== 201) {
        expect([put.status, await storage.stat(`/alice/${name}`)]).toEqual([400, undefined]);
        return;
      }
      const disposition = (await call("GET", `/home/${path}`)).header("content-disposition") ?? "";
      expect(disposition).toMatch(/^attachment; filename="(?:[^"\\]|\\.)*"(?:; filename\*=UTF-8''[\w%.!#$&+^`|~-]+)?$/);
      expect(disposition).toMatch(/^[ -~]*$/);
      const [, encoded] = /filename\*=UTF-8''(.*)$/.exec(disposition) ?? [];
      const [, quoted = ""] = /filename="((?:[^"\\]|\\.)*)"/.exec(disposition) ?? [];
      expect(encoded === undefined ? quoted.replaceAll(/\\(.)/g, "$1") : decodeURIComponent(encoded)).toBe(name);
    },
  );

  it.each(["//evil.example", "//evil.example/f", "/\\evil.example", "/%2fevil.example", "/%5cevil.example/f"])(
    "echo CVE-2022-40083: %s, to which a slash would be added, leads to no other site",
    async (target) => {
      const test = await createTestService({ files: { "/alice/evil.example/f/": "" } });
      for (const path of [target, `/home${target}`, `${target}/..`]) {
        const answer = await test.call("GET", path, { variant: "html" });
        const location = answer.header("location");
        if (location !== null) expect(location).toMatch(/^\/[^/\\]/);
      }
      const login = await test.call("POST", `/__svc__/login?return-path=${encodeURIComponent(target)}`, {
        as: null,
        headers: { "content-type": "application/x-www-form-urlencoded", accept: "text/html" },
        body: "username=alice&password=secret",
        undescribed: "whatever the query is called",
      });
      expect(login.header("location") ?? "/x").toMatch(/^\/[^/\\]/);
    },
  );
});

describe("users' content (SECURITY 21)", () => {
  const script = "<script>alert(document.domain)</script>";
  const pages = ["a.html", "a.svg", "a.xml", "a.xhtml", "a.js", "a.pdf", "a.mht", "a"];

  it.each(pages)(
    "SFTPGo CVE-2022-39220, filebrowser CVE-2025-52902: the file %s does not run in the origin",
    async (name) => {
      const { call } = await createTestService({ files: { [`/alice/${name}`]: script } });
      for (const headers of [{}, { range: "bytes=0-9" }, { accept: "text/html" }]) {
        const answer = await call("GET", `/home/${name}`, { headers });
        expect(answer.header("content-disposition")).toMatch(/^attachment/);
        expect(answer.header("x-content-type-options")).toBe("nosniff");
        expect(answer.header("content-security-policy")).toMatch(/sandbox|default-src 'none'/);
      }
    },
  );

  it.each([
    script,
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "' onmouseover='alert(1)",
    "{{constructor}}",
    "</script><script>",
  ])("filebrowser CVE-2025-52902: the name %j is text on every page that shows it", async (name) => {
    const { call } = await createTestService({ files: { "/alice/f/": "" } });
    const path = encodeURIComponent(name);
    const folder = await call("PUT", `/home/f/${path}/`);
    const answers = [
      await call("GET", "/home/f/", { variant: "html" }),
      await call("GET", `/home/f/${path}/`, { variant: "html" }),
      await call("GET", `/home/f/${path}/missing`, { variant: "html" }),
      await call("GET", `/home/?order=${path}`, { variant: "html", undescribed: "whatever the query is called" }),
      await call("GET", `/__svc__/login?return-path=${path}`, {
        as: null,
        variant: "html",
        undescribed: "whatever the query is called",
      }),
    ];
    expect([201, 400]).toContain(folder.status);
    for (const { text, header } of answers) {
      expect(text).not.toMatch(/<script>|<img src=x|onmouseover='|onerror=alert\(1\)>/i);
      expect(text).not.toMatch(/(?:href|src|action)="?javascript:/i);
      const policy = header("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe-(?:inline|eval)|\*/);
    }
  });

  it("other users' answers: nothing that an account sees is kept where another one is answered from", async () => {
    const { call } = await createTestService({ files: { "/alice/a": "x", "/bob/a": "y" } });
    for (const target of ["/home/a", "/home/", "/home/missing"]) {
      const answer = await call("GET", target, { variant: "json" });
      expect(answer.header("cache-control")).toMatch(/private|no-store/);
      const varies = (answer.header("vary") ?? "").toLowerCase();
      for (const name of ["accept", "authorization", "cookie"]) expect(varies).toContain(name);
    }
  });
});

describe("archives (SECURITY 22)", () => {
  it.each([
    ["CVE-2026-54093", ["..evil", "C:evil", "a:b", "nul\u0001", "..."]],
    ["CVE-2026-62843", ["..\u2216..\u2216evil", "a_b", "a:b", "a\u0002b"]],
  ])("filebrowser %s: no name in a ZIP leads out of the folder that it is unpacked in", async (_id, names) => {
    const files = Object.fromEntries(names.map((name) => [`/alice/f/${name}`, name]));
    const { call } = await createTestService({ files: { "/alice/f/": "", ...files } });
    const answer = await call("GET", "/home/f/", { headers: { accept: "application/zip" } });
    const zip = await JSZip.loadAsync(answer.bytes);
    const found = Object.values(zip.files).filter(({ dir }) => !dir);
    expect(found).toHaveLength(names.length);
    for (const { name, unixPermissions } of found) {
      expect(name).not.toMatch(/[\\:\p{Cc}]|^\/|(?:^|\/)\.\.?(?:\/|$)/u);
      // No entry is a link (S_IFLNK).
      expect((Number(unixPermissions ?? 0) & 0o170_000) === 0o120_000).toBe(false);
    }
    const contents = await Promise.all(found.map((file) => file.async("string")));
    expect(contents.sort()).toEqual([...names].sort());
  });
});
