import type { TrashTexts } from "../../contracts/pages/trash-texts.ts";

/** The texts of the page of the trash, in English. */
export const ENGLISH_TRASH: TrashTexts = {
  list: "Trash",
  empty: "The trash is empty.",
  removed: "Deleted",
  restore: "Restore",
  purge: "Delete for good",
  purgeAll: "Empty the trash",
  purgeAllHint: "Everything in the trash is deleted for good. This cannot be undone.",
  restored: "The selected items were restored.",
  purged: "The selected items were deleted for good.",
  emptied: "The trash was emptied.",
};
