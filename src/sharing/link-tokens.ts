/** What logs and events have in place of the token of a link. */
const MASK = "*";

/** What separates the segments of a path, also if a proxy has encoded it, or encoded it twice. */
const SEPARATOR = /([/\\]|%(?:25){0,3}(?:2f|5c))/i;
/** A token: `<kid>.<iv>.<ciphertext>.<tag>`. */
const TOKEN = /[0-9a-f]{8}\.[\w-]{16}\.[\w-]*\.[\w-]{22}/i;
/** Most paths have nothing of this. */
const MAY_HAVE_TOKEN = /__svc__|%|[0-9a-f]{8}\./i;
const MAX_DECODINGS = 4;

/**
 * Replaces the tokens of links in a path or URL by `*`: the token is the link, so no log and no event may have it
 * (SHARING 9.3). Such is the segment after `__svc__/share/`, however it is encoded, and what looks like a token
 * elsewhere.
 */
export function maskLinkTokens(path: string): string {
  if (!MAY_HAVE_TOKEN.test(path)) return path;
  // At the even positions are the segments, at the odd ones what separates them.
  const parts = path.split(SEPARATOR);
  let last = "";
  let isAfterShare = false;
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1 || part === "") continue;
    const name = decodeLeniently(part);
    if (isAfterShare || TOKEN.test(name)) parts[index] = MASK;
    isAfterShare = last === "__svc__" && name === "share";
    last = name;
  }
  return parts.join("");
}

/** Decodes ASCII alone, and repeatedly: what is refused as malformed is logged too. */
function decodeLeniently(segment: string): string {
  let text = segment;
  for (let count = 0; count < MAX_DECODINGS && text.includes("%"); count += 1) {
    text = text.replace(/%([0-7][0-9a-f])/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return text.toLowerCase();
}
