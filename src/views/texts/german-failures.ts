/** The German failure messages by their English text. `{0}`, `{1}` ... stand for values that vary. */
export const GERMAN_FAILURES: Readonly<Record<string, string>> = {
  // Files and folders
  "Not found.": "Nicht gefunden.",
  "A file or folder with that name already exists.":
    "Eine Datei oder ein Ordner mit diesem Namen ist bereits vorhanden.",
  "The parent folder does not exist.": "Der übergeordnete Ordner ist nicht vorhanden.",
  "A file exists where a folder is needed.": "Wo ein Ordner benötigt wird, ist eine Datei.",
  "A folder exists where a file is needed.": "Wo eine Datei benötigt wird, ist ein Ordner.",
  "A precondition of the request failed.": "Eine Vorbedingung der Anfrage ist nicht erfüllt.",
  "The storage does not support this name.": "Der Speicher unterstützt diesen Namen nicht.",
  "The content does not have the declared length.": "Der Inhalt hat nicht die angegebene Länge.",
  "The storage denied access.": "Der Speicher hat den Zugriff verweigert.",
  "The storage is full.": "Der Speicher ist voll.",
  "The content is larger than the storage allows.": "Der Inhalt ist größer, als der Speicher zulässt.",
  "The storage is not available.": "Der Speicher ist nicht erreichbar.",
  "Too many concurrent transfers.": "Zu viele gleichzeitige Übertragungen.",
  "Too many concurrent archives of large folders.": "Zu viele gleichzeitige Archive großer Ordner.",
  "Too many concurrent page requests.": "Zu viele gleichzeitige Seitenaufrufe.",
  "This name is reserved.": "Dieser Name ist reserviert.",
  "This is not a valid name.": "Das ist kein gültiger Name.",
  "The account's root folder cannot be removed.": "Der oberste Ordner kann nicht gelöscht werden.",
  "The folder is not empty.": "Der Ordner ist nicht leer.",
  "The account's permissions do not allow this.": "Dazu fehlt Ihnen die Berechtigung.",
  "The path is too long for the account's permission rules.": "Der Pfad ist zu lang für die Regeln des Kontos.",
  "The file is larger than {0} bytes.": "Die Datei ist größer als {0} Byte.",
  "The range is beyond the end of the file.": "Der Bereich liegt hinter dem Ende der Datei.",

  // Logins and sessions
  "A login is required.": "Bitte melden Sie sich an.",
  "The user name or password is wrong.": "Benutzername oder Passwort ist falsch.",
  "The session is invalid or has expired.": "Die Sitzung ist ungültig oder abgelaufen.",
  "The login has ended.": "Die Anmeldung ist nicht mehr gültig.",
  "The Authorization header is not valid.": "Die Angaben zur Anmeldung sind ungültig.",
  "A session is required: log in first.": "Dazu müssen Sie angemeldet sein.",
  "There is no session to end.": "Es gibt keine Sitzung zu beenden.",
  "The account cannot be used.": "Das Konto kann nicht benutzt werden.",
  "Too many concurrent logins.": "Zu viele gleichzeitige Anmeldungen.",
  "The session store is not available.": "Der Speicher der Sitzungen ist nicht erreichbar.",
  "The store of failed logins is not available.": "Der Speicher der Fehlanmeldungen ist nicht erreichbar.",
  "The request comes from another site.": "Die Anfrage kommt von einer anderen Website.",
  "A login must not come from another site.": "Eine Anmeldung darf nicht von einer anderen Website kommen.",
  "A logout must not come from another site.": "Eine Abmeldung darf nicht von einer anderen Website kommen.",

  // Passwords
  "The account may not change its password.": "Das Passwort dieses Kontos darf nicht geändert werden.",
  "The account's password cannot be changed here.": "Das Passwort dieses Kontos kann hier nicht geändert werden.",
  "Passwords cannot be changed at the moment.": "Passwörter können gerade nicht geändert werden.",
  "The current password is wrong.": "Das bisherige Passwort ist falsch.",
  "The new password must not be longer than {0} bytes.": "Das neue Passwort darf höchstens {0} Byte lang sein.",
  "The new password must have at least {0} characters.": "Das neue Passwort muss mindestens {0} Zeichen haben.",
  "The new password must not have more than {0} characters.": "Das neue Passwort darf höchstens {0} Zeichen haben.",
  "The new password must not contain control characters.": "Das neue Passwort darf keine Steuerzeichen enthalten.",
  "The new password must contain a lower-case letter.": "Das neue Passwort muss einen Kleinbuchstaben enthalten.",
  "The new password must contain an upper-case letter.": "Das neue Passwort muss einen Großbuchstaben enthalten.",
  "The new password must contain a digit.": "Das neue Passwort muss eine Ziffer enthalten.",
  "The new password must contain a character that is neither a letter nor a digit.":
    "Das neue Passwort muss ein Zeichen enthalten, das weder Buchstabe noch Ziffer ist.",
  "The new password must not contain the user name.": "Das neue Passwort darf den Benutzernamen nicht enthalten.",
  "The new password must not be the current one.": "Das neue Passwort darf nicht das bisherige sein.",
  "The new password is too easy to guess.": "Das neue Passwort ist zu leicht zu erraten.",

  // Forms
  "Select at least one item.": "Wählen Sie mindestens einen Eintrag aus.",
  "Select at least one file.": "Wählen Sie mindestens eine Datei aus.",
  "Enter the name of one new folder.": "Geben Sie den Namen eines neuen Ordners ein.",
  "The form has a field that is not valid UTF-8.": "Ein Feld des Formulars ist kein gültiges UTF-8.",
  "The form has another file with this name.": "Das Formular enthält eine weitere Datei mit diesem Namen.",
  "The form has a file in a field that takes no files.":
    "Das Formular enthält eine Datei in einem Feld, das keine Dateien annimmt.",
  "The form has text in a field for files.": "Das Formular enthält Text in einem Feld für Dateien.",
  "The form has more than one action.": "Das Formular nennt mehr als eine Aktion.",
  "The form has no action.": "Das Formular nennt keine Aktion.",
  "The form's action is unknown.": "Die Aktion des Formulars ist unbekannt.",
  "The form's action is not an upload.": "Die Aktion des Formulars lädt nichts hoch.",
  "The form has more than {0} files before its action.": "Das Formular hat mehr als {0} Dateien vor seiner Aktion.",
  "The form has more than {0} parts.":
    "Wählen Sie weniger Einträge auf einmal aus: Das Formular hat mehr als {0} Teile.",
  "The form has a part with headers of more than {0} bytes.":
    "Die Kopfzeilen eines Formularteils haben mehr als {0} Byte.",
  "The form's fields have more than {0} bytes.": "Die Felder des Formulars haben mehr als {0} Byte.",
  "The form is incomplete: it ends before its last boundary.": "Das Formular ist nicht vollständig angekommen.",
  "The part was skipped.": "Der Teil des Formulars wurde übersprungen.",
  "The form has no valid boundary.": "Das Formular nennt keine gültige Grenze seiner Teile.",
  "The form has unexpected text after a boundary.": "Hinter einer Grenze des Formulars steht unerwarteter Text.",
  "The form has a part without a valid Content-Disposition.":
    "Ein Teil des Formulars hat keine gültige Kopfzeile Content-Disposition.",
  "The form has a part without a name.": "Ein Teil des Formulars hat keinen Namen.",
  "The form has a part with a filename* parameter (RFC 7578 4.2).":
    "Ein Teil des Formulars hat einen Parameter filename* (RFC 7578 4.2).",
  "The form has a part with a Content-Transfer-Encoding.":
    "Ein Teil des Formulars hat eine Kopfzeile Content-Transfer-Encoding.",
  "The form has a part with malformed headers.": "Ein Teil des Formulars hat fehlerhafte Kopfzeilen.",
  "The form has a part whose headers are not valid UTF-8.":
    "Die Kopfzeilen eines Formularteils sind kein gültiges UTF-8.",
  "The form must contain a username and a password.": "Das Formular muss Benutzername und Passwort enthalten.",
  "A login must be sent as a form or as JSON.": "Eine Anmeldung muss als Formular oder als JSON gesendet werden.",
  "A password change must be sent as a form or as JSON.":
    "Eine Änderung des Passworts muss als Formular oder als JSON gesendet werden.",
  "A POST to a folder must be application/json or multipart/form-data.":
    "Ein POST an einen Ordner muss application/json oder multipart/form-data sein.",

  // Metadata of uploads
  "The header {0} is missing.": "Die Kopfzeile {0} fehlt.",
  "The header {0} does not have the key {1}.": "In der Kopfzeile {0} fehlt der Schlüssel {1}.",
  "The header {0} has an unexpected key.": "Die Kopfzeile {0} hat einen Schlüssel, der nicht vorgesehen ist.",
  "The header {0} is not valid UTF-8.": "Die Kopfzeile {0} ist kein gültiges UTF-8.",
  "The header {0} is not a list of key=value items.": "Die Kopfzeile {0} ist keine Liste der Form Schlüssel=Wert.",

  // Requests
  "The URL is malformed.": "Die Adresse ist fehlerhaft.",
  "The method is not implemented.": "Diese Methode wird nicht unterstützt.",
  "The method is not allowed here.": "Diese Methode ist hier nicht erlaubt.",
  "{0} is not supported for files.": "{0} wird für Dateien nicht unterstützt.",
  "The upload was refused.": "Das Hochladen wurde abgelehnt.",
  "The request's body was read before it reached the service.":
    "Der Inhalt der Anfrage wurde schon gelesen, bevor sie den Dienst erreicht hat.",
  "The client disconnected.": "Die Gegenseite hat die Verbindung getrennt.",
  "The request's body is incomplete.": "Der Inhalt der Anfrage ist unvollständig.",
  "The body is larger than {0} bytes.": "Der Inhalt ist größer als {0} Byte.",
  "The body has too many values, or they are nested too deeply.":
    "Der Inhalt hat zu viele Werte, oder sie sind zu tief verschachtelt.",
  "The form has more than {0} fields.": "Das Formular hat mehr als {0} Felder.",
  "The body is not valid JSON.": "Der Inhalt ist kein gültiges JSON.",
  "The body is not valid UTF-8.": "Der Inhalt ist kein gültiges UTF-8.",
  "The body is not a list of commands with at most {0} targets in total.":
    "Der Inhalt ist keine Liste von Befehlen mit insgesamt höchstens {0} Zielen.",
  "The body must contain a username and a password.": "Der Inhalt muss Benutzername und Passwort enthalten.",
  "The body must contain current_password and new_password, and nothing else.":
    "Der Inhalt muss current_password und new_password und sonst nichts enthalten.",
  "The Content-Length header is not a number.": "Die Kopfzeile Content-Length ist keine Zahl.",
  "The {0} header is not a list of entity-tags.": "Die Kopfzeile {0} ist keine Liste von Entity-Tags.",
  "PUT with Content-Range is not supported.": "PUT mit Content-Range wird nicht unterstützt.",
  "Content-Encoding is not supported.": "Content-Encoding wird nicht unterstützt.",
  "A request that creates a folder must have no content.":
    "Eine Anfrage, die einen Ordner anlegt, darf keinen Inhalt haben.",
  "Internal error {0}.": "Interner Fehler {0}.",
};
