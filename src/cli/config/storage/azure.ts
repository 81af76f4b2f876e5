import * as z from "zod";
import { type AzureStorage, createAzureStorage } from "../../../storage/azure.ts";
import { checkByFactory } from "../option-checks.ts";

/** The key `storage` of type `azure`. Its `key` is a secret, which may come from the environment or a file. */
export const azureStorageSchema = z
  .strictObject({
    type: z.literal("azure"),
    account: z.string(),
    container: z.string(),
    key: z.string(),
    endpoint: z.string().exactOptional(),
    prefix: z.string().exactOptional(),
  })
  .superRefine(checkByFactory((entry) => void toAzureStorage(entry)));

/** Creates the storage. @throws OptionError */
export function toAzureStorage({ type: _, ...options }: z.infer<typeof azureStorageSchema>): AzureStorage {
  return createAzureStorage(options);
}
