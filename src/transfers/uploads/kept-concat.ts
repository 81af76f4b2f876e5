import type { AccountContext } from "../../request/context.ts";

/** Stands for the token of a link in what is kept with an upload. No header field has it. */
const TOKEN = "\n";

/** The value of `Upload-Concat` as it is kept: the token in the URLs of a link is a secret, and is left out. */
export function toKeptConcat(context: Pick<AccountContext, "link" | "root">, value: string): string {
  const token = findToken(context);
  return token === undefined ? value : value.replaceAll(token, TOKEN);
}

/** The value of `Upload-Concat` as the client has sent it, with the token that its link has now. */
export function toSentConcat(context: Pick<AccountContext, "link" | "root">, kept: string): string {
  const token = findToken(context);
  return token === undefined ? kept : kept.replaceAll(TOKEN, token);
}

/** The root of a link ends with its token and a slash. */
function findToken({ link, root }: Pick<AccountContext, "link" | "root">): string | undefined {
  return link === undefined ? undefined : root.split("/").at(-2);
}
