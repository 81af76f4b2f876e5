import type { ServiceConfig } from "../config/service-config.ts";
import { createWalkQueue } from "../limits/walk-queue.ts";
import { createRequestMutex } from "../platform/keyed-mutex.ts";
import type { DigestService } from "../request/context.ts";
import type { ReportError } from "../request/errors.ts";
import { adoptKeyv } from "../stores/keyv.ts";
import { createMemoryKeyValueStore } from "../stores/memory.ts";
import { createKnownDigests } from "../transfers/digests/known-digests.ts";

/** Creates what the digests of a service share; `undefined` without the option `digests`. */
export function createDigestService(
  { digests, logger, clock }: Pick<ServiceConfig, "digests" | "logger" | "clock">,
  report: ReportError,
): DigestService | undefined {
  if (digests === undefined) return undefined;
  const { store = createMemoryKeyValueStore({ clock }), computeBytes } = digests;
  return {
    computeBytes,
    known: createKnownDigests(adoptKeyv(store, { logger, name: "store of digests" }), report),
    withLock: createRequestMutex(),
    walks: createWalkQueue(),
  };
}
