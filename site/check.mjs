import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path/posix";

const FETCHED = [
  // Whatever an element loads by itself; links that a reader follows are none of it.
  /<(?:script|img|source|iframe|video|audio|embed|object)\b[^>]*\s(?:src|srcset|data)="(?:https?:)?\/\/[^"]*"/g,
  /<link\b(?=[^>]*\srel="(?:stylesheet|preload|modulepreload|preconnect|dns-prefetch|icon|manifest)")[^>]*\shref="(?:https?:)?\/\/[^"]*"/g,
  // What a style sheet or a script loads.
  /@import\s+(?:url\()?["']?(?:https?:)?\/\/[^"')\s]+/g,
  /url\(\s*["']?(?:https?:)?\/\/[^"')\s]+/g,
  /\b(?:import|importScripts|fetch)\(\s*["'`](?:https?:)?\/\/[^"'`]+/g,
  /\bfrom\s*["'](?:https?:)?\/\/[^"']+/g,
];

/**
 * What is wrong with a built site: what it loads from elsewhere, and links and anchors within it that lead to nothing.
 *
 * @param {string} folder of the site
 * @param {string} base its path on its host, `/` or `/name/`
 * @returns {Promise<string[]>} a line for each fault
 */
export async function findFaults(folder, base) {
  const paths = await readdir(folder, { recursive: true });
  const faults = [];
  const pages = new Map();
  for (const path of paths.filter((each) => /\.(?:html|css|m?js)$/.test(each))) {
    const text = await readFile(join(folder, path), "utf8");
    // What a page shows as code loads nothing.
    const markup = path.endsWith(".html") ? text.replace(/<pre\b[\s\S]*?<\/pre>|<code\b[\s\S]*?<\/code>/g, "") : text;
    if (isLoaded(path)) {
      faults.push(
        ...FETCHED.flatMap((pattern) => markup.match(pattern) ?? []).map((found) => `${path}: loads ${found}`),
      );
    }
    if (path.endsWith(".html")) pages.set(path, { markup, ids: findIds(text) });
  }
  for (const [path, { markup }] of pages) faults.push(...findDeadLinks(path, markup));
  return faults;

  function findDeadLinks(path, markup) {
    const links = [...markup.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href]) => href);
    return [...new Set(links)]
      .map((href) => new URL(href.replaceAll("&amp;", "&"), `http://site${base}${path}`))
      .filter(({ origin, protocol }) => origin === "http://site" && protocol === "http:")
      .filter((url) => !leadsSomewhere(url))
      .map(({ pathname, hash }) => `${path}: ${pathname}${hash} leads to nothing`);
  }

  function leadsSomewhere({ pathname, hash }) {
    if (!pathname.startsWith(base)) return false;
    const place = decodeURIComponent(pathname.slice(base.length));
    const path = place === "" || place.endsWith("/") ? `${place}index.html` : place;
    const page = pages.get(path) ?? pages.get(`${path}.html`);
    if (page === undefined) return hash === "" && existsSync(join(folder, path));
    return hash === "" || page.ids.has(decodeURIComponent(hash.slice(1)));
  }
}

/** The scripts that hold a page's text quote what it quotes; they are made of the page, which is looked at itself. */
function isLoaded(path) {
  return !/\.md\.[\w-]+(?:\.lean)?\.js$/.test(path) && !/localSearchIndex/.test(path);
}

function findIds(text) {
  return new Set([...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id.replaceAll("&amp;", "&")));
}
