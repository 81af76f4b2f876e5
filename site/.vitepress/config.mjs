import { fileURLToPath } from "node:url";
import GithubSlugger from "github-slugger";
import { defineConfig } from "vitepress";
import { readEntries } from "../api.mjs";
import { toSiteLink } from "../links.mjs";
import { readSidebar } from "../sidebar.mjs";

const project = fileURLToPath(new URL("../../", import.meta.url));
const site = fileURLToPath(new URL("../", import.meta.url));
const pages = `${site}pages`;

/** Headings have the anchors that GitHub gives them. */
function slugify(text) {
  return new GithubSlugger().slug(text);
}

/** Links to what is no page of its own lead to the page that shows it. */
function useSiteLinks(md) {
  md.core.ruler.push("site-links", ({ tokens, env }) => {
    if (env.relativePath.startsWith("api/")) return;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href !== null) token.attrSet("href", toSiteLink(project, env.relativePath, href));
    }
    for (const token of tokens.flatMap((each) => [each, ...(each.children ?? [])])) {
      if (token.type.startsWith("html_")) token.content = toSiteImages(token.content);
    }
  });
}

/** The paths of images in HTML, so that the build takes them in as it does those of Markdown. */
function toSiteImages(html) {
  return html.replace(/(\s(?:src|srcset)=")(?![a-z]+:|[./])/gi, "$1./");
}

export default defineConfig({
  title: "fileferry",
  description: "HTTP file transfer as a library",
  lang: "en",
  // Where the site is not at the root of its host: /fileferry/
  base: process.env.DOCS_BASE ?? "/",
  srcDir: "pages",
  outDir: "dist",
  cleanUrls: false,
  markdown: {
    anchor: { slugify },
    config: useSiteLinks,
  },
  vite: {
    build: { chunkSizeWarningLimit: 4096 },
    // It would ask a server elsewhere for icons. There are none.
    resolve: { alias: [{ find: /^.*\/VPSocialLink\.vue$/, replacement: `${site}.vitepress/nothing.vue` }] },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Documentation", link: "/docs/quick-start" },
      { text: "API reference", link: "/api/" },
    ],
    sidebar: readSidebar(pages, await readEntries(project)),
  },
});
