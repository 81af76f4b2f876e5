import { decodeUtf8 } from "../platform/utf8.ts";

/** The content of an `Authorization` header. */
export type Authorization =
  | { readonly scheme: "session"; readonly id: string }
  | { readonly scheme: "basic"; readonly username: string; readonly password: string }
  /** A token of RFC 6750. */
  | { readonly scheme: "bearer"; readonly token: string }
  /**
   * The header is present but not usable: the request is refused, never authenticated by a weaker method (CONTRACT
   * 6.1).
   */
  | { readonly scheme: "invalid" };

/**
 * Parses `Authorization: session <SESSION_ID>` (5.1.3), `Authorization: Basic` (RFC 7617, UTF-8) and
 * `Authorization: Bearer` (RFC 6750). Returns `undefined` without a header.
 */
export function parseAuthorization(value: string | null): Authorization | undefined {
  if (value === null) return undefined;
  const [, scheme = "", token = ""] = /^([!-~]+) +([!-~]+) *$/.exec(value) ?? [];
  switch (scheme.toLowerCase()) {
    case "session":
      return { scheme: "session", id: token };
    case "basic":
      return parseBasic(token);
    case "bearer":
      return { scheme: "bearer", token };
    default:
      return { scheme: "invalid" };
  }
}

function parseBasic(token: string): Authorization {
  const text = decodeBase64(token);
  const colon = text?.indexOf(":") ?? -1;
  // RFC 7617 2: neither the user-id nor the password may hold a control character.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters.
  if (text === undefined || colon < 0 || /[\u0000-\u001f\u007f]/.test(text)) return { scheme: "invalid" };
  return { scheme: "basic", username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decodeBase64(token: string): string | undefined {
  try {
    const bytes = atob(token);
    // ASCII is the same in UTF-8.
    return /^[ -~]*$/.test(bytes) ? bytes : decodeUtf8(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
