import { enhanceCopy } from "../copy.ts";
import { createRememberedUploads, findStorage } from "../uploads/remembered-uploads.ts";
import { enhanceUploads } from "../uploads/uploads.ts";
import { enhanceMembers } from "./members.ts";
import { enhanceNewFolder } from "./new-folder.ts";
import { createFolderPage } from "./page.ts";
import { enhanceRename } from "./rename.ts";

// The script of the pages. Every action also works without it; with it, actions of a folder do not reload the page.
enhanceCopy(document);
const main = document.querySelector<HTMLElement>("main#folder");
if (main !== null) {
  const page = createFolderPage(main);
  enhanceMembers(page);
  enhanceNewFolder(page);
  enhanceRename(page);
  const root = document.querySelector(".brand")?.getAttribute("href") ?? undefined;
  const remembered = createRememberedUploads(findStorage(), Date.now, main.dataset.link && root);
  enhanceUploads(page, remembered);
  // Who uses the browser next must not see what was uploaded.
  document.querySelector('.account form[method="post"]')?.addEventListener("submit", remembered.clear);
}
