import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path/posix";

/** Whether a link leads somewhere within the repository, by a path. */
export function isRelative(href) {
  return !/^(?:[a-z][a-z0-9+.-]*:|\/|#)/i.test(href);
}

/**
 * The page of the site for a file or folder of the repository: a Markdown file is its own, `README.md` that of its
 * folder; other files and folders have one that shows them.
 *
 * @param {string} project the repository's folder
 * @param {string} path from there
 * @returns {string | undefined} its path among the pages; `undefined` where nothing is there
 */
export function toPage(project, path) {
  const place = path.replace(/\/$/, "");
  if (!existsSync(join(project, place))) return undefined;
  if (statSync(join(project, place)).isDirectory()) return join(place, "index.md");
  if (basename(place) === "README.md") return join(dirname(place), "index.md");
  return place.endsWith(".md") ? place : `${place}.md`;
}

/**
 * A link of a page as the site has it, to the page of what it names.
 *
 * @param {string} project the repository's folder
 * @param {string} page the path of the file that has the link
 * @param {string} href
 */
export function toSiteLink(project, page, href) {
  if (!isRelative(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = toPage(project, join(dirname(page), decodeURI(path)));
  if (target === undefined) return href;
  return `./${relative(dirname(page), target)}${anchor === undefined ? "" : `#${anchor}`}`;
}
