import type { TrashTexts } from "../../contracts/pages/trash-texts.ts";

/** The texts of the page of the trash, in Spanish. */
export const SPANISH_TRASH: TrashTexts = {
  list: "Papelera",
  empty: "La papelera está vacía.",
  removed: "Eliminado",
  restore: "Restaurar",
  purge: "Eliminar definitivamente",
  purgeAll: "Vaciar la papelera",
  purgeAllHint: "Todo lo que hay en la papelera se elimina definitivamente. Esta acción no se puede deshacer.",
  restored: "Los elementos seleccionados se han restaurado.",
  purged: "Los elementos seleccionados se han eliminado definitivamente.",
  emptied: "La papelera se ha vaciado.",
};
