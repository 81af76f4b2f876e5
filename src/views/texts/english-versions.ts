import type { VersionTexts } from "../../contracts/pages/version-texts.ts";

/** The texts of the page with the versions of a file, in English. */
export const ENGLISH_VERSIONS: VersionTexts = {
  list: "Versions",
  ofFile: "Versions of {name}",
  empty: "There are no earlier versions.",
  emptyHint: "When this file is replaced, its present content is kept here.",
  present: "Present content:",
  action: "Actions",
  download: "Download",
  downloadOne: "Download the version of {time}",
  restore: "Restore",
  restoreOne: "Restore the version of {time}",
  purge: "Delete for good",
  purgeOne: "Delete for good the version of {time}",
  restored: "The version was restored. What was there before is a version now.",
  purged: "The version was deleted for good.",
};
