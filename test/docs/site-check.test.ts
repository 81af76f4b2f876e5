import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { projectFolder } from "../support/built.ts";

const { href } = pathToFileURL(join(projectFolder, "site/check.mjs"));
const { findFaults }: { findFaults(folder: string, base: string): Promise<readonly string[]> } = await import(href);

async function check(files: Readonly<Record<string, string>>, base = "/"): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-site-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return (await findFaults(folder, base)).toSorted();
}

describe("the check of the built site", () => {
  it("takes links within it, and links elsewhere that a reader follows", async () => {
    const page =
      '<h1 id="a">A</h1><a href="#a"></a><a href="b/c.html#d"></a><a href="/files/b/"></a><a href="https://a.example/"></a>';
    const files = { "index.html": page, "b/c.html": '<i id="d">', "b/index.html": '<a href="../x.css">', "x.css": "" };
    expect(await check(files, "/files/")).toEqual([]);
  });

  it("finds links and anchors that lead to nothing", async () => {
    const files = { "index.html": '<a href="/a.html"><a href="#b"><a href="c.html#d">', "c.html": "<i>" };
    expect(await check(files)).toEqual([
      "index.html: /a.html leads to nothing",
      "index.html: /c.html#d leads to nothing",
      "index.html: /index.html#b leads to nothing",
    ]);
  });

  it("finds what a page, a style sheet or a script loads from elsewhere, but not what is shown as code", async () => {
    const files = {
      "index.html": '<link rel="stylesheet" href="https://f.example/a"><pre><script src="https://f.example/b"></pre>',
      "b.html": '<script type="module" src="//f.example/c"></script><img alt="" src="https://f.example/d.png">',
      "a.css": '@import "https://f.example/e"; a { src: url(https://f.example/f.woff2) }',
      "assets/a.js": 'import("https://f.example/g")',
      "assets/b.md.AbC.js": '<img src="https://f.example/shown">',
    };
    const found = (await check(files)).map((line) => line.replace(/^(\S+): .*f\.example\/(\w+).*$/, "$1 $2"));
    expect(found.toSorted()).toEqual(["a.css e", "a.css f", "assets/a.js g", "b.html c", "b.html d", "index.html a"]);
  });
});
