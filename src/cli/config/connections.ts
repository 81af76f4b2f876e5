import * as z from "zod";
import type { NodeServerLimits } from "../../runtimes/node/server-limits.ts";

const DAY_SECONDS = 86_400;

const numberSchema = z.int("must be a whole number, or 0").min(0, "must be a whole number, or 0");

const secondsSchema = z.number().min(0, `must be 0 to ${DAY_SECONDS}`).max(DAY_SECONDS, `must be 0 to ${DAY_SECONDS}`);

/** The key `connections`: limits on clients; see {@link NodeServerLimits}. */
export const connectionsSchema = z.strictObject({
  max: numberSchema.exactOptional(),
  maxPerAddress: numberSchema.exactOptional(),
  maxHeaderBytes: z
    .int("must be 1024 to 1048576")
    .min(1024, "must be 1024 to 1048576")
    .max(1_048_576, "must be 1024 to 1048576")
    .exactOptional(),
  headersSeconds: secondsSchema.exactOptional(),
  idleSeconds: secondsSchema.exactOptional(),
  minBytesPerSecond: numberSchema.exactOptional(),
  paceSeconds: secondsSchema.min(1, `must be 1 to ${DAY_SECONDS}`).exactOptional(),
  deadlineSeconds: secondsSchema.exactOptional(),
});

/** The default of `maxPerAddress`, as many as an address may have transfers by default. */
const MAX_PER_ADDRESS = 1024;

/** The keys of a configuration that are set if a proxy is in front. `trustedProxies` needs `clientForwardedHeader`. */
interface ProxyKeys {
  readonly publicOrigin?: string;
  readonly clientForwardedHeader?: string;
}

/** The settings of a server for its connections. */
export interface ConnectionSettings {
  readonly limits?: NodeServerLimits;
  /** How long requests in progress may take after a stop signal; 0 for no limit. */
  readonly deadlineSeconds?: number;
}

/**
 * Converts the key `connections` to the settings of the server. The connections of an address have a default limit,
 * except behind a proxy, which has one address for all clients.
 */
export function toConnectionSettings(
  connections: z.infer<typeof connectionsSchema> = {},
  { publicOrigin, clientForwardedHeader }: ProxyKeys = {},
): ConnectionSettings {
  const isProxied = Boolean(publicOrigin || clientForwardedHeader);
  const { maxPerAddress = isProxied ? undefined : MAX_PER_ADDRESS } = connections;
  const { max, maxHeaderBytes, minBytesPerSecond } = connections;
  const { headersSeconds, idleSeconds, paceSeconds, deadlineSeconds } = connections;
  const limits = {
    ...(max !== undefined && { maxConnections: max }),
    ...(maxPerAddress !== undefined && { maxConnectionsPerAddress: maxPerAddress }),
    ...(maxHeaderBytes !== undefined && { maxHeaderBytes }),
    ...(minBytesPerSecond !== undefined && { minBytesPerSecond }),
    ...(headersSeconds !== undefined && { headersSeconds }),
    ...(idleSeconds !== undefined && { idleSeconds }),
    ...(paceSeconds !== undefined && { throughputWindowSeconds: paceSeconds }),
  };
  return {
    limits,
    ...(deadlineSeconds !== undefined && { deadlineSeconds }),
  };
}
