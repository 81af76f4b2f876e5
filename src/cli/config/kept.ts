import * as z from "zod";
import { createMemoryStorage } from "../../storage/memory.ts";
import { createTrashStorage } from "../../storage/trash.ts";
import { createVersionsStorage } from "../../storage/versions.ts";
import { checkByFactory, checkByService } from "./option-checks.ts";

/** The key `trash`. */
export const trashKeySchema = z
  .strictObject({
    keepSeconds: z.number().exactOptional(),
    maxBytes: z.number().exactOptional(),
    makeRoom: z.boolean().exactOptional(),
  })
  .superRefine(checkByFactory((options) => void createTrashStorage(createMemoryStorage(), options)));

/** The key `versions`. */
export const versionsKeySchema = z
  .strictObject({
    keep: z.number().exactOptional(),
    keepSeconds: z.number().exactOptional(),
    maxFileBytes: z.number().exactOptional(),
  })
  .superRefine(checkByFactory((options) => void createVersionsStorage(createMemoryStorage(), options)));

/** The key `retention`. */
export const retentionSchema = z
  .array(z.strictObject({ path: z.string(), seconds: z.number() }))
  .superRefine(checkByService((retention) => ({ retention })));
