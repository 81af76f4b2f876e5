import type { KeyTexts } from "../../contracts/pages/key-texts.ts";

/** The texts of the page for API keys, in English. */
export const ENGLISH_KEYS: KeyTexts = {
  list: "API keys",
  hint: "A program uses a key in place of your password. A key never has more permissions than your account.",
  empty: "You have no API keys.",
  label: "Name",
  path: "File or folder",
  pathHint: "The key sees nothing else. Leave this empty for all that you see.",
  permissions: "Permissions",
  all: "All of the account",
  permissionsHint: "Select nothing for all permissions of your account.",
  mayRename: "Rename and move",
  maySetAttributes: "Change times and properties",
  expires: "Valid until",
  never: "Does not expire",
  expired: "Expired",
  action: "Action",
  revoke: "Revoke",
  revokeOne: "Revoke {name}",
  revoked: "The API key was revoked.",
  create: "Make an API key",
  ready: "The API key is ready",
  readyHint:
    "Copy the key now: it is not shown again. A program sends it as a Bearer token, or in place of your password.",
  key: "API key",
};
