import * as z from "zod";
import { createMemoryStorage } from "../../storage/memory.ts";
import { createTrashStorage } from "../../storage/trash.ts";
import { checkByFactory } from "./option-checks.ts";

/** The key `trash`. */
export const trashKeySchema = z
  .strictObject({
    keepSeconds: z.number().exactOptional(),
    maxBytes: z.number().exactOptional(),
    makeRoom: z.boolean().exactOptional(),
  })
  .superRefine(checkByFactory((options) => void createTrashStorage(createMemoryStorage(), options)));
