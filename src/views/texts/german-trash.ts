import type { TrashTexts } from "../../contracts/pages/trash-texts.ts";

/** The texts of the page of the trash, in German. */
export const GERMAN_TRASH: TrashTexts = {
  list: "Papierkorb",
  empty: "Der Papierkorb ist leer.",
  removed: "Gelöscht",
  restore: "Wiederherstellen",
  purge: "Endgültig löschen",
  purgeAll: "Papierkorb leeren",
  purgeAllHint: "Alles im Papierkorb wird endgültig gelöscht. Das lässt sich nicht rückgängig machen.",
  restored: "Die ausgewählten Einträge wurden wiederhergestellt.",
  purged: "Die ausgewählten Einträge wurden endgültig gelöscht.",
  emptied: "Der Papierkorb wurde geleert.",
};
