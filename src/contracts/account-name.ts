/**
 * Returns what names have in common that an authentication method may take for one account: case, spaces around them,
 * and other forms of their characters do not count (Unicode NFKC). Limits go by it, so that a client cannot pass them
 * with another spelling.
 */
export function foldName(username: string): string {
  return username.normalize("NFKC").toLowerCase().trim();
}

/**
 * Returns what identifies an account: its exact name, or its `uuid`. With a `uuid`, other spellings of the name are the
 * same account. `uuid` is the name if the account has none.
 */
export function toAccountIdentity({ name, uuid }: { readonly name: string; readonly uuid: string }): string {
  // No name has a control character.
  return uuid === name ? name : `${foldName(name)}\n${uuid}`;
}
