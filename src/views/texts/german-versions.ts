import type { VersionTexts } from "../../contracts/pages/version-texts.ts";

/** The texts of the page with the versions of a file, in German. */
export const GERMAN_VERSIONS: VersionTexts = {
  list: "Versionen",
  ofFile: "Versionen von {name}",
  empty: "Es gibt keine früheren Versionen.",
  emptyHint: "Wenn diese Datei ersetzt wird, bleibt ihr jetziger Inhalt hier erhalten.",
  present: "Jetziger Inhalt:",
  action: "Aktionen",
  download: "Herunterladen",
  downloadOne: "Herunterladen: die Version vom {time}",
  restore: "Wiederherstellen",
  restoreOne: "Wiederherstellen: die Version vom {time}",
  purge: "Endgültig löschen",
  purgeOne: "Endgültig löschen: die Version vom {time}",
  restored: "Die Version wurde wiederhergestellt. Der Inhalt davor ist jetzt eine Version.",
  purged: "Die Version wurde endgültig gelöscht.",
};
