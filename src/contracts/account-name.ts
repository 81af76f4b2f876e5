/**
 * Returns what names have in common that an authentication method may take for one account: case, spaces around them,
 * and other forms of their characters do not count (Unicode NFKC). Limits go by it, so that a client cannot pass them
 * with another spelling.
 */
export function foldName(username: string): string {
  return username.normalize("NFKC").toLowerCase().trim();
}
