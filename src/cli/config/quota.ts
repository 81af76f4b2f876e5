import * as z from "zod";
import type { FileServiceOptions } from "../../config/options.ts";
import type { Logger } from "../../contracts/logger.ts";
import { createMemoryStorage } from "../../storage/memory.ts";
import { createQuotaStorage, type QuotaOptions } from "../../storage/quota.ts";
import { parseOwnOrSharedStore, type SharedStoreLocation } from "../shared-store.ts";
import { checkByFactory } from "./option-checks.ts";

/** The key `quota`. Its store is `memory`, which is the default, or named as that of sessions. */
export const quotaKeySchema = z
  .strictObject({
    store: z
      .string()
      .superRefine(checkByFactory((store) => void parseQuotaStore(store)))
      .exactOptional(),
    folders: z
      .array(z.strictObject({ path: z.string(), bytes: z.number().exactOptional(), files: z.number().exactOptional() }))
      .exactOptional(),
    recountSeconds: z.number().exactOptional(),
  })
  .superRefine(
    checkByFactory(({ store: _store, ...options }) => void createQuotaStorage(createMemoryStorage(), options)),
  );

/** Parses `quota.store`; `undefined` is the memory of the process. @throws OptionError */
export function parseQuotaStore(text: string): SharedStoreLocation | undefined {
  return parseOwnOrSharedStore(text, "quota.store");
}

/** Warns if groups have quotas, and nothing makes them hold. */
export function warnOfUnusedQuotas({ groups = {} }: Pick<FileServiceOptions, "groups">, logger: Logger): void {
  const unlimited = Object.keys(groups).filter((id) => groups[id]?.quota_bytes || groups[id]?.quota_files);
  if (unlimited.length > 0) logger.warn({ groups: unlimited }, 'The quotas of groups need the key "quota".');
}

/** Returns the options of the storage with quotas. Its store is opened later. */
export function toQuotaOptions({ store: _store, ...options }: z.infer<typeof quotaKeySchema>): QuotaOptions {
  return options;
}
