import * as z from "zod";
import { parseSharedStore } from "../shared-store.ts";
import { checkByFactory, checkByService } from "./option-checks.ts";

/** The option `webdav`. Its store is named as that of sessions. */
export const webdavSchema = z.strictObject({
  lockStore: z
    .string()
    .superRefine(checkByFactory((store) => void parseSharedStore(store, "webdav.lockStore")))
    .exactOptional(),
  maxLockSeconds: z
    .number()
    .superRefine(checkByService((maxLockSeconds) => ({ webdav: { maxLockSeconds } })))
    .exactOptional(),
  locksPerAccount: z
    .number()
    .superRefine(checkByService((locksPerAccount) => ({ webdav: { locksPerAccount } })))
    .exactOptional(),
  infiniteDepth: z.boolean().exactOptional(),
});
