import { toUrlPath } from "../account/path.ts";
import type { SafeHtml } from "../http/html.ts";
import type { AccountContext } from "../request/context.ts";
import { renderNavigation, type SessionLinks } from "../views/navigation.ts";
import { mayChangeKeys, toKeysPath } from "./keys/own-keys.ts";
import { hasSharing, toLinksPath } from "./links/own-links.ts";
import { passwordUpdatePath } from "./login/password-update.ts";
import { toKeptQuery } from "./login/return-path.ts";
import { loginPath } from "./login/unauthorized.ts";
import { toTrashPath } from "./trash/trash-path.ts";

/** Returns the context of a page with the links of its account at the top. The pages of a link have none. */
export async function withNavigation(
  context: AccountContext,
): Promise<AccountContext & { readonly navigation: SafeHtml | undefined }> {
  const { texts, account, link } = context;
  const navigation = link ? undefined : renderNavigation(texts, account.name, await toSessionLinks(context));
  return { ...context, navigation };
}

/** The login page, which leads back to the folder. */
function toLoginUrl({ root, path, target, config }: AccountContext): string {
  const returnTo = `${root}${toUrlPath(path)}${toKeptQuery(target.query)}`;
  return `${loginPath(config.basePath)}?return=${encodeURIComponent(returnTo)}`;
}

/** The links of a browser's session (4.1, rule 4). The password link is shown only if the password can be changed. */
async function toSessionLinks(context: AccountContext): Promise<SessionLinks> {
  const { account, config, scheme, passwords, links, files } = context;
  if (scheme === "anonymous") return { login: toLoginUrl(context) };
  const hasList = hasSharing(context) && links?.sealed.stored !== undefined && account.allowLinks;
  const shared = {
    ...(hasList && { shared: toLinksPath(config.basePath) }),
    ...(files.trash && { trash: toTrashPath(config.basePath) }),
  };
  if (scheme !== "cookie") return shared;
  const logout = `${config.basePath}/__svc__/logout`;
  const hasKeys = await mayChangeKeys(context);
  const mayChange = account.allowPasswordChange && (await passwords.isPossible(account.name));
  const keys = hasKeys && { keys: toKeysPath(config.basePath) };
  return { logout, ...shared, ...keys, ...(mayChange && { passwordUpdate: passwordUpdatePath(config.basePath) }) };
}
