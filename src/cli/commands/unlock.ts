import { isIP } from "node:net";
import { type ForgottenLogins, forgetFailedLogins } from "../../auth/attempt-keys.ts";
import { isPlausibleName } from "../../auth/chain.ts";
import { readWithoutServer } from "../config/without-server.ts";
import { createFailure } from "../failure.ts";
import { escapeText, type Output } from "../log/terminal.ts";
import { openSharedStore } from "../shared-store.ts";

/** The arguments and flags of `unlock <name>`. */
export interface UnlockFlags {
  readonly name: string;
  readonly config: string;
  /** The address of a client that is locked out, too. */
  readonly address?: string;
}

/**
 * Lets an account log in again after too many failed logins. If none of its name are counted, it says so: perhaps the
 * name is mistyped. Rejects with a failure: of status 1 if nothing is counted or the store fails, of status 2 if a flag
 * or the configuration is wrong, or if only the process that serves knows the failed logins.
 */
export async function unlock(
  { name, config, address }: UnlockFlags,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): Promise<void> {
  if (!isPlausibleName(name)) throw createFailure(2, ["error: no account can have this name"]);
  if (address !== undefined && isIP(address) === 0) {
    throw createFailure(2, [`error: ${escapeText(address)} is not an IP address`]);
  }
  const { sinks = [], sessionStore } = await readWithoutServer(config, stderr);
  await Promise.all(sinks.map((sink) => sink.close()));
  if (sessionStore === undefined) {
    const reason =
      "is missing: only the process that serves knows failed logins, and a restart of it forgets them; redis:// or sqlite:// share them";
    throw createFailure(2, [`${config}: session.store: ${reason}`]);
  }
  const { store, close } = await openSharedStore(sessionStore.store, sessionStore.key);
  let forgotten: ForgottenLogins;
  try {
    forgotten = await forgetFailedLogins(store, name, address);
  } catch {
    throw createFailure(1, [`${sessionStore.key}: the store failed`]);
  } finally {
    await close();
  }
  const uncounted = `no failed logins of ${escapeText(name)} are counted`;
  const hint = "an address with too many failed logins stays locked out: name it by --address";
  if (!forgotten.ofName && !forgotten.ofNetwork) {
    throw createFailure(1, [`error: ${uncounted}${address === undefined ? `; ${hint}` : ""}`]);
  }
  if (address === undefined) stderr.write(`warning: ${hint}\n`);
  if (!forgotten.ofName) stderr.write(`warning: ${uncounted}, only those of the address\n`);
  stdout.write(`unlock: ${escapeText(name)}\n`);
}
