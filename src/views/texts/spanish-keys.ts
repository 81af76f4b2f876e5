import type { KeyTexts } from "../../contracts/pages/key-texts.ts";

/** The texts of the page for API keys, in Spanish. */
export const SPANISH_KEYS: KeyTexts = {
  list: "Claves de API",
  hint: "Un programa usa una clave en lugar de su contraseña. Una clave nunca tiene más permisos que su cuenta.",
  empty: "No tiene claves de API.",
  label: "Nombre",
  path: "Archivo o carpeta",
  pathHint: "La clave no ve nada más. Déjelo vacío para todo lo que usted ve.",
  permissions: "Permisos",
  all: "Todos los de la cuenta",
  permissionsHint: "No seleccione nada para todos los permisos de su cuenta.",
  mayRename: "Cambiar nombres y mover",
  maySetAttributes: "Cambiar fechas y propiedades",
  expires: "Válida hasta",
  never: "No caduca",
  expired: "Caducada",
  action: "Acción",
  revoke: "Revocar",
  revokeOne: "Revocar {name}",
  revoked: "La clave de API se ha revocado.",
  create: "Crear una clave de API",
  ready: "La clave de API está lista",
  readyHint:
    "Copie la clave ahora: no se volverá a mostrar. Un programa la envía como token Bearer o en lugar de su contraseña.",
  key: "Clave de API",
};
