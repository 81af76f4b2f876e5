import type { VersionTexts } from "../../contracts/pages/version-texts.ts";

/** The texts of the page with the versions of a file, in French. */
export const FRENCH_VERSIONS: VersionTexts = {
  list: "Versions",
  ofFile: "Versions de {name}",
  empty: "Il n’y a pas de version antérieure.",
  emptyHint: "Lorsque ce fichier est remplacé, son contenu actuel est conservé ici.",
  present: "Contenu actuel :",
  action: "Actions",
  download: "Télécharger",
  downloadOne: "Télécharger la version du {time}",
  restore: "Restaurer",
  restoreOne: "Restaurer la version du {time}",
  purge: "Supprimer définitivement",
  purgeOne: "Supprimer définitivement la version du {time}",
  restored: "La version a été restaurée. Le contenu précédent est maintenant une version.",
  purged: "La version a été supprimée définitivement.",
};
