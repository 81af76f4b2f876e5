import type { VersionTexts } from "../../contracts/pages/version-texts.ts";

/** The texts of the page with the versions of a file, in Spanish. */
export const SPANISH_VERSIONS: VersionTexts = {
  list: "Versiones",
  ofFile: "Versiones de {name}",
  empty: "No hay versiones anteriores.",
  emptyHint: "Cuando se reemplace este archivo, su contenido actual se conservará aquí.",
  present: "Contenido actual:",
  action: "Acciones",
  download: "Descargar",
  downloadOne: "Descargar la versión del {time}",
  restore: "Restaurar",
  restoreOne: "Restaurar la versión del {time}",
  purge: "Eliminar definitivamente",
  purgeOne: "Eliminar definitivamente la versión del {time}",
  restored: "La versión se ha restaurado. El contenido anterior es ahora una versión.",
  purged: "La versión se ha eliminado definitivamente.",
};
