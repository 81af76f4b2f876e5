import { decodeUtf8 } from "../platform/utf8.ts";

/** What an `Authorization` value says. */
export type Authorization =
  | { readonly scheme: "session"; readonly id: string }
  | { readonly scheme: "basic"; readonly username: string; readonly password: string }
  /** Present, but of no use: refused, never replaced by a weaker means (CONTRACT 6.1). */
  | { readonly scheme: "invalid" };

/** Reads `Authorization: session <SESSION_ID>` (5.1.3) and `Authorization: Basic` (RFC 7617, UTF-8); `undefined` without a header. */
export function parseAuthorization(value: string | null): Authorization | undefined {
  if (value === null) return undefined;
  const [, scheme = "", token = ""] = /^([!-~]+) +([!-~]+) *$/.exec(value) ?? [];
  switch (scheme.toLowerCase()) {
    case "session":
      return { scheme: "session", id: token };
    case "basic":
      return parseBasic(token);
    default:
      return { scheme: "invalid" };
  }
}

function parseBasic(token: string): Authorization {
  const text = decodeBase64(token);
  const colon = text?.indexOf(":") ?? -1;
  // RFC 7617 2: neither the user-id nor the password holds a control character.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (text === undefined || colon < 0 || /[\u0000-\u001f\u007f]/.test(text)) return { scheme: "invalid" };
  return { scheme: "basic", username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decodeBase64(token: string): string | undefined {
  try {
    return decodeUtf8(Uint8Array.from(atob(token), (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
