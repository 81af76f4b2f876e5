import { existsSync, statSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path/posix";
import createMarkdown from "markdown-it";
import { isRelative, toPage } from "./links.mjs";

const LANGUAGES = {
  conf: "nginx",
  mjs: "js",
  ts: "ts",
  tsx: "tsx",
  css: "css",
  html: "html",
  json: "json",
  yaml: "yaml",
  yml: "yaml",
  toml: "toml",
};

const markdown = createMarkdown({ html: true });

/**
 * Lays out the pages of the site as the repository has them, so that the links between them stay as they are written,
 * and a page for each file and folder that one of them links to.
 *
 * @param {string} project the repository's folder
 * @param {string} folder where the pages go
 */
export async function writePages(project, folder) {
  const written = new Set();
  const waiting = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"];
  for (const path of await readdir(join(project, "docs"), { recursive: true })) {
    if (path.endsWith(".md")) waiting.push(join("docs", path));
  }
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const page = toPage(project, path);
    // A link to nothing is left for the build to refuse.
    if (page === undefined || written.has(page)) continue;
    written.add(page);
    const text = await readPage(project, path);
    await mkdir(dirname(join(folder, page)), { recursive: true });
    await writeFile(join(folder, page), text);
    waiting.push(...findLinks(text).map((href) => join(dirname(page), href)));
  }
  await cp(join(project, "docs/images"), join(folder, "docs/images"), { recursive: true });
}

async function readPage(project, path) {
  if (path.endsWith(".md")) return readFile(join(project, path), "utf8");
  if (!statSync(join(project, path)).isDirectory())
    return toSourcePage(path, await readFile(join(project, path), "utf8"));
  const readme = join(project, path, "README.md");
  return existsSync(readme) ? readFile(readme, "utf8") : toListing(project, path);
}

/** A file that is no Markdown, as a page. */
function toSourcePage(path, text) {
  const language = LANGUAGES[path.split(".").at(-1) ?? ""] ?? "text";
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `# ${path}\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`;
}

/** A folder without a page of its own. */
async function toListing(project, path) {
  const members = await readdir(join(project, path), { withFileTypes: true });
  const lines = members
    .filter(({ name }) => !name.startsWith(".") && !["node_modules", "dist", "package-lock.json"].includes(name))
    .map((member) => (member.isDirectory() ? `${member.name}/` : member.name))
    .sort()
    .map((name) => `- [${name}](./${name})`);
  return `# ${relative(".", path)}/\n\n${lines.join("\n")}\n`;
}

/** The paths that a page links to, without their anchors. */
function findLinks(text) {
  return markdown
    .parse(text, {})
    .flatMap(({ children }) => children ?? [])
    .filter(({ type }) => type === "link_open")
    .map((token) => token.attrGet("href") ?? "")
    .filter(isRelative)
    .map((href) => decodeURI(href.split("#")[0] ?? ""))
    .filter((path) => path !== "");
}
