import { leaveKeysToInputMethods } from "../composition.ts";
import { enhanceCopy } from "../copy.ts";
import { stayOnDrops } from "../drops.ts";
import { enhanceMenus } from "../menus.ts";
import { createRememberedUploads, findStorage } from "../uploads/remembered-uploads.ts";
import { enhanceUploads } from "../uploads/uploads.ts";
import { enhanceDragging } from "./drag-rows.ts";
import { enhanceFilter } from "./filter.ts";
import { enhanceKeyboard } from "./keyboard.ts";
import { enhanceMembers } from "./members.ts";
import { enhanceNewFolder } from "./new-folder.ts";
import { enhanceFiles } from "./open-file.ts";
import { createFolderPage } from "./page.ts";
import { enhanceRowHeight } from "./row-height.ts";
import { enhanceRowMenus } from "./row-menu.ts";
import { enhanceFound } from "./search-results.ts";
import { enhanceSelectAll } from "./select-all.ts";
import { enhanceTimes } from "./times.ts";

// The script of the pages. Every action also works without it; with it, actions of a folder do not reload the page.
leaveKeysToInputMethods();
stayOnDrops();
enhanceCopy(document);
enhanceMenus(document);
for (const main of document.querySelectorAll("main")) enhanceTimes(main);
for (const main of document.querySelectorAll<HTMLElement>("main.links")) enhanceSelectAll(main);
const found = document.querySelector<HTMLElement>("main#found");
if (found !== null) enhanceFound(found);
const main = document.querySelector<HTMLElement>("main#folder");
if (main !== null) {
  const page = createFolderPage(main);
  enhanceMembers(page);
  enhanceNewFolder(page);
  enhanceFiles(page);
  enhanceRowMenus(page);
  enhanceFilter(page);
  enhanceRowHeight(main);
  enhanceKeyboard(page);
  enhanceDragging(page);
  const root = document.querySelector(".brand")?.getAttribute("href") ?? undefined;
  const remembered = createRememberedUploads(findStorage(), Date.now, main.dataset.link && root);
  enhanceUploads(page, remembered);
  // Who uses the browser next must not see what was uploaded.
  document.querySelector('.account form[method="post"]')?.addEventListener("submit", remembered.clear);
}
