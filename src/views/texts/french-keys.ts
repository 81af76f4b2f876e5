import type { KeyTexts } from "../../contracts/pages/key-texts.ts";

/** The texts of the page for API keys, in French. */
export const FRENCH_KEYS: KeyTexts = {
  list: "Clés d’API",
  hint: "Un programme utilise une clé à la place de votre mot de passe. Une clé n’a jamais plus de droits que votre compte.",
  empty: "Vous n’avez aucune clé d’API.",
  label: "Nom",
  path: "Fichier ou dossier",
  pathHint: "La clé ne voit rien d’autre. Laissez vide pour tout ce que vous voyez.",
  permissions: "Autorisations",
  all: "Toutes celles du compte",
  permissionsHint: "Ne sélectionnez rien pour toutes les autorisations de votre compte.",
  mayRename: "Renommer et déplacer",
  maySetAttributes: "Modifier les dates et les propriétés",
  expires: "Valable jusqu’au",
  never: "N’expire pas",
  expired: "Expirée",
  action: "Action",
  revoke: "Révoquer",
  revokeOne: "Révoquer {name}",
  revoked: "La clé d’API a été révoquée.",
  create: "Créer une clé d’API",
  ready: "La clé d’API est prête",
  readyHint:
    "Copiez la clé maintenant : elle ne sera plus affichée. Un programme l’envoie comme jeton Bearer ou à la place de votre mot de passe.",
  key: "Clé d’API",
};
