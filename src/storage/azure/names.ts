/**
 * Names of members as names in Azure, which takes `\` for `/`, removes dots at the end of a name, and sends some
 * characters in listings only encoded. The characters that stand for them are those of rclone, so that both show the
 * same names.
 */

/** What stands before a character that is meant itself, and before the digits of one that has no other form. */
const QUOTE = "\u201b";
const BACKSLASH = "\uff3c";
const DOT = "\uff0e";
const DELETE = "\u2421";
/** The pictures of the control characters follow each other from here on. */
const FIRST_PICTURE = 0x2400;

const REPLACED = /[\p{Cc}\\\ufffe\uffff\u201b\u2400-\u241f\u2421\uff3c]|[.\uff0e]$/gu;
const QUOTED = /\u201b(?:(ff[ef][ef])|(.))|[\u2401-\u241f\u2421\uff3c]|\uff0e$/gu;

/** Returns the name in Azure of a name of a member. */
export function toBlobName(name: string): string {
  return name.replace(REPLACED, (sign) => {
    const code = sign.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(FIRST_PICTURE + code);
    if (code === 0x7f) return DELETE;
    // The control characters of Latin 1 stay.
    if (code < 0xa0 && code > 0x7f) return sign;
    if (sign === "\\") return BACKSLASH;
    if (sign === ".") return DOT;
    if (code >= 0xfffe) return `${QUOTE}${code.toString(16)}`;
    return `${QUOTE}${sign}`;
  });
}

/** Returns the name of a member: the reverse of {@link toBlobName}. */
export function fromBlobName(name: string): string {
  return name.replace(QUOTED, (sign, digits: string | undefined, quoted: string | undefined) => {
    if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
    if (quoted !== undefined) return quoted;
    if (sign === DELETE) return "\u007f";
    if (sign === BACKSLASH) return "\\";
    if (sign === DOT) return ".";
    return String.fromCharCode(sign.charCodeAt(0) - FIRST_PICTURE);
  });
}
