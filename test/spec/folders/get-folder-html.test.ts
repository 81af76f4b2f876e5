import { describe, expect, it } from "vitest";
import { byCookie, createTestService } from "../../support/service.ts";

interface Link {
  readonly href: string;
  readonly text: string;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };

function unescapeHtml(text: string): string {
  return text.replace(/&([^;]+);/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole);
}

/** The links to members, as a browser on the folder's page takes them. */
function linksOf(page: string): readonly Link[] {
  const rows = /<tbody>([\s\S]*)<\/tbody>/.exec(page)?.[1] ?? "";
  return [...rows.matchAll(/<th[^>]*><a\s[^>]*?href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g)].map(
    ([, href = "", text = ""]) => ({
      href: unescapeHtml(href),
      text: unescapeHtml(text.replace(/<[^>]*>/g, "")),
    }),
  );
}

/** What no name may bring into a page. */
const FOREIGN =
  /<script(?! type="module" src="\/__svc__\/assets\/main-[\da-f]{16}\.js"><\/script>)|<img|<b>|\son\w+="/i;

/** The request target that a browser makes of a link. */
function resolve(href: string, base: string): string {
  const { origin, pathname, search } = new URL(href, `http://files.example${base}`);
  expect(origin).toBe("http://files.example");
  return pathname + search;
}

describe("GET /home/<folder>/ as HTML", () => {
  it("answers 200 and a page that lists the members (4.6)", async () => {
    const { call } = await createTestService({ files: { "/alice/f/a.txt": "x", "/alice/f/sub/": "" } });
    const answer = await call("GET", "/home/f/", { variant: "html" });
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.header("server-path")).toBe("/f");
    expect(answer.text).toMatch(/^<!doctype html>/i);
    expect(linksOf(answer.text)).toHaveLength(2);
  });

  it("is the default (1.5)", async () => {
    const { call } = await createTestService({ files: { "/alice/a.txt": "" } });
    expect((await call("GET", "/home/")).header("content-type")).toBe("text/html; charset=utf-8");
  });

  it("sorts by name, folders first (CONTRACT 3.3)", async () => {
    const files = { "/alice/b": "", "/alice/d/": "", "/alice/a": "", "/alice/c/": "", "/alice/e": "" };
    const { call } = await createTestService({ files });
    const { text } = await call("GET", "/home/", { variant: "html" });
    expect(linksOf(text).map((link) => link.text)).toEqual(["c", "d", "a", "b", "e"]);
  });

  it("sorts names as people do: numbers by value, capital letters with the small ones, by the language", async () => {
    const names = ["Bild 10", "Bild 2", "apfel", "Zebra", "\u00e4rger", "B", "b"];
    const { call } = await createTestService({
      files: Object.fromEntries(names.map((name) => [`/alice/${name}`, ""])),
    });
    const list = async (query: string) => {
      const headers = { "accept-language": "de" };
      const { text } = await call("GET", `/home/${query}`, { variant: "html", headers });
      return linksOf(text)
        .map((link) => link.text)
        .filter((text) => names.includes(text));
    };
    const sorted = ["\u00e4rger", "apfel", "b", "B", "Bild 2", "Bild 10", "Zebra"];
    sorted.sort(new Intl.Collator("de", { numeric: true }).compare);
    expect(await list("")).toEqual(sorted);
    expect(await list("?sort=name&order=desc")).toEqual(sorted.toReversed());
    expect(sorted.indexOf("Bild 2")).toBeLessThan(sorted.indexOf("Bild 10"));
    expect(sorted.indexOf("\u00e4rger")).toBeLessThan(sorted.indexOf("b"));
  });

  it("links folders with and files without a trailing / (1.3)", async () => {
    const { call } = await createTestService({ files: { "/alice/f/": "", "/alice/a": "" } });
    const targets = linksOf((await call("GET", "/home/", { variant: "html" })).text).map(({ href }) =>
      resolve(href, "/home/"),
    );
    expect(targets).toEqual(["/home/f/", "/home/a"]);
  });

  const awkward = [
    "<script>alert(1)",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
    "\u{1f600} emoji.txt",
    "caf\u00e9",
    "cafe\u0301",
    "100%",
    "%41",
    "%2e%2e",
    "a?b",
    "a#b",
    "a b",
    " lead and trail ",
    "a:b",
    "javascript:alert(1)",
    "http:evil.example",
    "...",
    "a;b",
    "a&b",
    "a+b",
    "~",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a name may look like one.
    "${USER}",
    "{{x}}",
    "__proto__",
    "\u202egnp.exe",
    "-",
  ];

  it.each(awkward)("names the file %j escaped and links it so that the link works (SECURITY 21)", async (name) => {
    const { call } = await createTestService({ files: { [`/alice/f/${name}`]: `content of ${name}` } });
    const { text } = await call("GET", "/home/f/", { variant: "html" });
    expect(text).not.toMatch(FOREIGN);
    const [link] = linksOf(text);
    expect(link?.text).toBe(name);
    const file = await call("GET", resolve(link?.href ?? "", "/home/f/"));
    expect([file.status, file.text]).toEqual([200, `content of ${name}`]);
  });

  it.each(awkward)("names the folder %j escaped, in its own page too (SECURITY 21)", async (name) => {
    const { call } = await createTestService({ files: { [`/alice/${name}/inside`]: "x" } });
    const { text } = await call("GET", "/home/", { variant: "html" });
    const [link] = linksOf(text);
    expect(link?.text).toBe(name);
    const page = await call("GET", resolve(link?.href ?? "", "/home/"), { variant: "html" });
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(FOREIGN);
    expect(linksOf(page.text).map((inside) => inside.text)).toEqual(["inside"]);
  });

  it("links the parent folder, but not above the root (4.6)", async () => {
    const { call } = await createTestService({ files: { "/alice/f/g/": "" } });
    const inner = await call("GET", "/home/f/g/", { variant: "html" });
    const up = [...inner.text.matchAll(/href="(\.\.[^"]*)"/g)].map(([, href = ""]) => resolve(href, "/home/f/g/"));
    // The way up, and the breadcrumbs.
    expect(up).toEqual(["/home/f/", "/home/", "/home/f/"]);
    expect((await call("GET", "/home/", { variant: "html" })).text).not.toContain('href="../');
  });

  it("is an archive with ?zip, which the page links to for a folder of any size", async () => {
    const { call } = await createTestService({ files: { "/alice/f/a.txt": "a" } });
    expect((await call("GET", "/home/f/", { variant: "html" })).text).toContain('<a href="?zip" id="download-all">');
    const archive = await call("GET", "/home/f/?zip", { variant: "html" });
    expect([archive.status, archive.header("content-type")]).toEqual([200, "application/zip"]);
    expect(archive.header("content-disposition")).toContain('filename="f.zip"');
  });

  it("offers browsers to log out, where they are logged in by the cookie (4.1, CONTRACT 6.3)", async () => {
    const { call, login } = await createTestService();
    const headers = byCookie(await login());
    const { text } = await call("GET", "/home/", { as: null, variant: "html", headers });
    expect(text).toMatch(/<form method="post" action="\/__svc__\/logout"/);
  });

  it("works below a base path (CONTRACT 2.7)", async () => {
    const { call, login } = await createTestService({ basePath: "/files", files: { "/alice/f/a": "x" } });
    const headers = byCookie(await login());
    const { text } = await call("GET", "/files/home/f/", { as: null, variant: "html", headers });
    expect(text).toContain('action="/files/__svc__/logout"');
    const [link] = linksOf(text);
    expect(resolve(link?.href ?? "", "/files/home/f/")).toBe("/files/home/f/a");
  });

  it("answers 404 as a page for a missing folder (4.6)", async () => {
    const { call } = await createTestService();
    const answer = await call("GET", "/home/%3Cscript%3Ealert(1)/", { variant: "html" });
    expect(answer.status).toBe(404);
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.text).not.toContain("<script>");
  });
});
