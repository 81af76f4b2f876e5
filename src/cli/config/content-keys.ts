import * as z from "zod";
import { createMemoryKeyValueStore } from "../../stores/memory.ts";
import { createClamdGuard } from "../../uploads/clamd-guard-node.ts";
import { parseOwnOrSharedStore, type SharedStoreLocation } from "../shared-store.ts";
import { checkByFactory, checkByService } from "./option-checks.ts";

/** The option `digests`, without its store. */
export const digestsSchema = z
  .strictObject({ computeBytes: z.number().exactOptional() })
  .superRefine(checkByService((digests) => ({ digests })));

/** The option `idempotency`. Its store is `memory`, which is the default, or named as that of sessions. */
export const idempotencySchema = z
  .strictObject({
    store: z
      .string()
      .superRefine(checkByFactory((store) => void parseAnswerStore(store)))
      .exactOptional(),
    seconds: z.number().exactOptional(),
  })
  .superRefine(
    checkByService(({ seconds }) => ({
      idempotency: { store: createMemoryKeyValueStore(), ...(seconds !== undefined && { seconds }) },
    })),
  );

/** The key `scan`: the options of the guard for clamd. */
export const scanSchema = z
  .strictObject({
    clamd: z.string(),
    maxBytes: z.number().exactOptional(),
    onTooLarge: z.enum(["refuse", "pass"]).exactOptional(),
    onUnavailable: z.enum(["refuse", "pass"]).exactOptional(),
    timeoutSeconds: z.number().exactOptional(),
  })
  .superRefine(checkByFactory((options) => void createClamdGuard(options)));

/** Parses `idempotency.store`; `undefined` is the memory of the process. @throws OptionError */
export function parseAnswerStore(text: string): SharedStoreLocation | undefined {
  return parseOwnOrSharedStore(text, "idempotency.store");
}
