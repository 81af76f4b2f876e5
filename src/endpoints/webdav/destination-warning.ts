import type { AccountContext } from "../../request/context.ts";

/** The shortest time between two warnings: clients retry. */
const WARN_INTERVAL_MS = 60_000;

const warnedAt = new WeakMap<object, number>();

/**
 * Warns the operator that the host of a `Destination` is not one of the service: behind a proxy that changes `Host`,
 * clients can move and copy nothing. Warns once a minute.
 */
export function warnOfDestination(
  { config }: Pick<AccountContext, "config">,
  { destination, host }: Readonly<Record<string, string | number>>,
): void {
  const now = config.clock();
  if (now - (warnedAt.get(config) ?? Number.NEGATIVE_INFINITY) < WARN_INTERVAL_MS) return;
  warnedAt.set(config, now);
  config.logger.warn(
    { destination, host },
    "A WebDAV client was refused: the host of its Destination is not that of the request. Set publicOrigin, or let the proxy pass Host on.",
  );
}
