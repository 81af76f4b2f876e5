import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import createMarkdown from "markdown-it";
import { isRelative } from "./links.mjs";

const markdown = createMarkdown({ html: true });

/**
 * The sidebar: what the table of contents lists, by its headings, the pages that it leaves out, and the entries of the
 * package.
 *
 * @param {string} pages the folder of the site's pages
 * @param {{ name: string }[]} entries
 */
export function readSidebar(pages, entries) {
  const groups = existsSync(join(pages, "docs/index.md")) ? readContents(join(pages, "docs/index.md")) : [];
  const listed = new Set(groups.flatMap(({ items }) => items.map(({ link }) => link)));
  const others = readdirSync(join(pages, "docs"))
    .filter((name) => name.endsWith(".md") && name !== "index.md")
    .sort()
    .map((name) => ({ text: readTitle(join(pages, "docs", name)), link: toLink(join("/docs", name)) }))
    .filter(({ link }) => !listed.has(link));
  const reference = entries.map(({ name }) => ({ text: name, link: `/api/${name}/` }));
  return [
    ...groups,
    ...(others.length === 0 ? [] : [{ text: groups.length === 0 ? "Documentation" : "More", items: others }]),
    { text: "API reference", link: "/api/", collapsed: true, items: reference },
    { text: "Project", items: [toItem(pages, "CHANGELOG.md"), toItem(pages, "CONTRIBUTING.md")] },
  ];
}

function toItem(pages, path) {
  return { text: readTitle(join(pages, path)), link: toLink(`/${path}`) };
}

/** The links below each heading, the first of a line or of a row standing for it. */
function readContents(file) {
  const groups = [];
  const tokens = markdown.parse(readFileSync(file, "utf8"), {});
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "inline") continue;
    const link = token.children?.findIndex(({ type }) => type === "link_open") ?? -1;
    const isHeading = tokens[index - 1]?.type === "heading_open";
    if (isHeading) groups.push({ text: token.content, items: [] });
    const href = token.children?.[link]?.attrGet("href") ?? "";
    if (isHeading || link < 0 || !isRelative(href) || !/\.md$/.test(href)) continue;
    groups.at(-1)?.items.push({
      text: token.children?.[link + 1]?.content ?? href,
      link: toLink(join("/docs", href)),
    });
  }
  return groups.filter(({ items }) => items.length > 0);
}

function readTitle(file) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(file, "utf8")) ?? [];
  return (title ?? basename(file, ".md")).replaceAll("`", "");
}

/** The URL of a page. */
function toLink(path) {
  if (basename(path) === "index.md") return join(dirname(path), "/");
  return path.replace(/\.md$/, "");
}
