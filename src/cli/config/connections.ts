import { z } from "zod";
import type { NodeServerLimits } from "../../runtimes/node/server-limits.ts";

const DAY_SECONDS = 86_400;

const numberSchema = z.int("must be a whole number, or 0").min(0, "must be a whole number, or 0");

const secondsSchema = z.number().min(0, `must be 0 to ${DAY_SECONDS}`).max(DAY_SECONDS, `must be 0 to ${DAY_SECONDS}`);

/** What the server takes of its clients; {@link NodeServerLimits} has them. */
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

/** What a server is made and ended with. */
export interface ConnectionSettings {
  readonly limits?: NodeServerLimits;
  /** How long what is under way at the end may take; 0 for any time. */
  readonly deadlineSeconds?: number;
}

/** The same as the server has it. */
export function toConnectionSettings(connections: z.infer<typeof connectionsSchema> = {}): ConnectionSettings {
  const { max, maxPerAddress, maxHeaderBytes, minBytesPerSecond } = connections;
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
