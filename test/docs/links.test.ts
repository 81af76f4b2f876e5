import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../support/built.ts";
import { findAnchors, findLinks, type Page, parsePage, readPages } from "./pages.ts";

const pages = await readPages(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "examples"]);
const known = new Map(pages.map((page) => [page.path, page]));

/** What is wrong with the links of a page, one a line. Nothing is asked of the network. */
function findFaults(page: Page): readonly string[] {
  return findLinks(page).flatMap(({ href, line }) => {
    const fault = findFault(page, href);
    return fault === undefined ? [] : [`${page.path}:${line}: ${href} ${fault}`];
  });
}

function findFault(page: Page, href: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return isAddress(href) ? undefined : "is no address";
  const [path = "", anchor] = href.split("#");
  if (path.startsWith("/")) return "does not start at the page";
  const target = join(dirname(page.path), decodeURI(path)).replace(/\/$/, "");
  if (path !== "" && !isThere(target)) return "is not there";
  if (anchor === undefined) return undefined;
  const read = path === "" ? page : findPage(target);
  return read !== undefined && findAnchors(read).has(anchor) ? undefined : "has no such heading";
}

function isThere(path: string): boolean {
  return !path.startsWith("..") && existsSync(join(projectFolder, path));
}

/** A page, or that of a folder. */
function findPage(path: string): Page | undefined {
  return known.get(statSync(join(projectFolder, path)).isDirectory() ? join(path, "README.md") : path);
}

function isAddress(href: string): boolean {
  if (href.startsWith("mailto:")) return /^mailto:[^@\s]+@[^@\s]+$/.test(href);
  return /^https?:\/\/[^/]/.test(href) && URL.canParse(href);
}

describe("the links of", () => {
  it.each(pages.map((page) => [page.path, page] as const))("%s lead somewhere", (_path, page) => {
    expect(findFaults(page)).toEqual([]);
  });
});

describe("the check of links", () => {
  it("finds what leads to nothing", () => {
    const text = [
      "# A `b` page: _here_",
      "[a](#a-b-page-here) [b](command.md) [c](../README.md#run-it) [d](decisions/) [e](https://a.example/x)",
      "",
      "[f](#a-b-page) [g](commands.md) [h](../README.md#walk-it) [i](../../x.md) [j](/docs/command.md) [k](https:///x)",
      '<img src="images/none.png">',
    ].join("\n");
    expect(findFaults(parsePage("docs/a.md", text))).toEqual([
      "docs/a.md:4: #a-b-page has no such heading",
      "docs/a.md:4: commands.md is not there",
      "docs/a.md:4: ../README.md#walk-it has no such heading",
      "docs/a.md:4: ../../x.md is not there",
      "docs/a.md:4: /docs/command.md does not start at the page",
      "docs/a.md:4: https:///x is no address",
      "docs/a.md:4: images/none.png is not there",
    ]);
  });
});
