import type { TrashTexts } from "../../contracts/pages/trash-texts.ts";

/** The texts of the page of the trash, in French. */
export const FRENCH_TRASH: TrashTexts = {
  list: "Corbeille",
  empty: "La corbeille est vide.",
  removed: "Supprimé",
  restore: "Restaurer",
  purge: "Supprimer définitivement",
  purgeAll: "Vider la corbeille",
  purgeAllHint: "Tout le contenu de la corbeille est supprimé définitivement. Cette action est irréversible.",
  restored: "Les éléments sélectionnés ont été restaurés.",
  purged: "Les éléments sélectionnés ont été supprimés définitivement.",
  emptied: "La corbeille a été vidée.",
};
