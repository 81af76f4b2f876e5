import * as z from "zod";
import { checkByService } from "./option-checks.ts";

/** The option `limits`. */
export const limitsSchema = z
  .strictObject({
    maxFileBytes: z.number().exactOptional(),
    loginAttempts: z.number().exactOptional(),
    loginWindowSeconds: z.number().exactOptional(),
    maxLoginBytes: z.number().exactOptional(),
    maxJsonBytes: z.number().exactOptional(),
    maxCommands: z.number().exactOptional(),
    maxFormParts: z.number().exactOptional(),
    maxPartHeaderBytes: z.number().exactOptional(),
    maxFormFieldBytes: z.number().exactOptional(),
    transfersPerAccount: z.number().exactOptional(),
    transfersPerAddress: z.number().exactOptional(),
    transfersPerLink: z.number().exactOptional(),
    pageBytesPerAccount: z.number().exactOptional(),
    pageBytesPerAddress: z.number().exactOptional(),
    pageBytesPerProcess: z.number().exactOptional(),
    uploadsPerAccount: z.number().exactOptional(),
    uploadBytesPerAccount: z.number().exactOptional(),
    searchResults: z.number().exactOptional(),
    searchMembers: z.number().exactOptional(),
    searchSeconds: z.number().exactOptional(),
  })
  .superRefine(checkByService((limits) => ({ limits })));

/** The option `uploads`: `false` for none. */
export const uploadsSchema = z.union([
  z.literal(false),
  z
    .strictObject({
      idleSeconds: z.number().exactOptional(),
      maxSeconds: z.number().exactOptional(),
      keepSeconds: z.number().exactOptional(),
      maxAppendBytes: z.number().exactOptional(),
    })
    .superRefine(checkByService((uploads) => ({ uploads }))),
]);
