import type { KeyTexts } from "../../contracts/pages/key-texts.ts";

/** The texts of the page for API keys, in German. */
export const GERMAN_KEYS: KeyTexts = {
  list: "API-Schlüssel",
  hint: "Ein Programm benutzt einen Schlüssel anstelle Ihres Passworts. Ein Schlüssel darf nie mehr als Ihr Konto.",
  empty: "Sie haben keine API-Schlüssel.",
  label: "Name",
  path: "Datei oder Ordner",
  pathHint: "Der Schlüssel sieht nichts anderes. Leer gilt er für alles, was Sie sehen.",
  permissions: "Rechte",
  all: "Alle des Kontos",
  permissionsHint: "Ohne Auswahl hat der Schlüssel alle Rechte Ihres Kontos.",
  mayRename: "Umbenennen und verschieben",
  maySetAttributes: "Zeiten und Eigenschaften ändern",
  expires: "Gültig bis",
  never: "Läuft nicht ab",
  expired: "Abgelaufen",
  action: "Aktion",
  revoke: "Widerrufen",
  revokeOne: "{name} widerrufen",
  revoked: "Der API-Schlüssel wurde widerrufen.",
  create: "API-Schlüssel erstellen",
  ready: "Der API-Schlüssel ist fertig",
  readyHint:
    "Kopieren Sie den Schlüssel jetzt: Er wird nicht noch einmal angezeigt. Ein Programm sendet ihn als Bearer-Token oder anstelle Ihres Passworts.",
  key: "API-Schlüssel",
};
