import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path/posix";
import GithubSlugger from "github-slugger";
import createMarkdown, { type Token } from "markdown-it";
import { projectFolder } from "../support/built.ts";

/** A page of the documentation as a Markdown parser sees it. */
export interface Page {
  /** From the project's folder. */
  readonly path: string;
  readonly tokens: readonly Token[];
}

/** What a page refers to. */
export interface Link {
  readonly href: string;
  /** Where it stands, or the block around it. */
  readonly line: number;
}

const markdown = createMarkdown({ html: true });

/** A page of a text. */
export function parsePage(path: string, text: string): Page {
  return { path, tokens: markdown.parse(text, {}) };
}

/** The pages of files and of all Markdown below folders, in a fixed order. */
export async function readPages(places: readonly string[]): Promise<readonly Page[]> {
  const paths = await Promise.all(places.map(findPages));
  return Promise.all(
    paths.flat().map(async (path) => parsePage(path, await readFile(join(projectFolder, path), "utf8"))),
  );
}

async function findPages(place: string): Promise<readonly string[]> {
  if (place.endsWith(".md")) return [place];
  const members = await readdir(join(projectFolder, place), { withFileTypes: true });
  // Not by `recursive`, which would follow the links in node_modules, one of them to this project.
  const isSearched = (member: Dirent): boolean => member.isDirectory() && member.name !== "node_modules";
  const found = members.filter((member) => member.name.endsWith(".md") || isSearched(member));
  return (await Promise.all(found.map(({ name }) => findPages(join(place, name))))).flat().sort();
}

/** The links and images of a page, those that are written as HTML too. */
export function findLinks({ tokens }: Page): readonly Link[] {
  return tokens.flatMap((block) => {
    const line = (block.map?.[0] ?? 0) + 1;
    return [block, ...(block.children ?? [])].flatMap(toHrefs).map((href) => ({ href, line }));
  });
}

function toHrefs(token: Token): readonly string[] {
  if (token.type === "link_open") return [String(token.attrGet("href"))];
  if (token.type === "image") return [String(token.attrGet("src"))];
  if (!token.type.startsWith("html_")) return [];
  return [...token.content.matchAll(/\s(?:href|src|srcset)="([^"]*)"/g)].map(([, href = ""]) => href);
}

/** The anchors of a page: those that GitHub makes of its headings, and those that are written as HTML. */
export function findAnchors({ tokens }: Page): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  const anchors = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    if (tokens[index - 1]?.type === "heading_open") anchors.add(slugger.slug(toText(token)));
    for (const { type, content } of [token, ...(token.children ?? [])]) {
      if (!type.startsWith("html_")) continue;
      for (const [, id = ""] of content.matchAll(/\s(?:id|name)="([^"]*)"/g)) anchors.add(id);
    }
  }
  return anchors;
}

/** What of a heading is read. */
function toText({ children }: Token): string {
  return (children ?? [])
    .filter(({ type }) => type === "text" || type === "code_inline")
    .map(({ content }) => content)
    .join("");
}
