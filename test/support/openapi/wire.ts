import { settleChildren } from "./child-log.ts";
import { tapServers } from "./server-tap.ts";
import { createWireCheck, type WireCheck } from "./wire-check.ts";
import { tapClients } from "./wire-tap.ts";

const clients = tapClients({ begin: (exchange) => check.begin(exchange), take: (exchange) => check.take(exchange) });
const check: WireCheck = createWireCheck(clients.unheard);
const servers = tapServers(check, clients.isOwn);

/** Asks the service at this URL for its description, before the service ends. */
export function askForDescription(url: string): void {
  check.ask(url);
}

/**
 * Returns how all exchanges over sockets since the last call differ from their descriptions. An unfinished exchange
 * counts as far as it came.
 */
export async function settleWire(): Promise<readonly string[]> {
  clients.flush();
  servers.flush();
  return [...(await check.settle()), ...(await settleChildren(clients.isOwn))];
}

/** Forgets the descriptions of the services that the last file of tests has run. */
export function forgetServices(): void {
  check.forget();
}
