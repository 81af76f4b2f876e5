import type { AuthenticationChain } from "./chain.ts";
import type { Login } from "./login.ts";
import type { Sessions } from "./sessions/types.ts";

/**
 * Watches a login from this call on. The returned function says whether it has ended since: by the end of its session,
 * a new password, or a change or the removal of its account. A session that only expires has not ended: asking keeps it
 * alive. The function rejects with HttpError `unavailable` if that is not known.
 */
export type WatchLogin = (login: Login, session: string | undefined) => () => Promise<boolean>;

/** Creates the watch of a service. */
export function createLoginWatcher(
  sessions: Pick<Sessions, "generationOf" | "isEnded">,
  chain: Pick<AuthenticationChain, "isCurrent">,
): WatchLogin {
  return ({ username, version }, session) => {
    let first: { readonly generation: string | undefined } | undefined;
    const reading = sessions.generationOf(username).then(
      (generation) => {
        first = { generation };
      },
      () => undefined,
    );
    return async () => {
      const isEnded = session === undefined ? undefined : await sessions.isEnded(session);
      if (isEnded !== undefined) return isEnded;
      await reading;
      const generation = await sessions.generationOf(username);
      // The store failed at the start.
      first ??= { generation };
      // The store forgets a generation some time after the last session that it has ended.
      if (generation !== undefined && generation !== first.generation) return true;
      return version !== undefined && (await chain.isCurrent(username, version)) === false;
    };
  };
}
