import * as z from "zod";
import { type AzureStorage, toAzureSettings } from "../../../storage/azure/options.ts";
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
  .superRefine(checkByFactory(({ type: _, ...options }) => void toAzureSettings(options)));

/** Creates the storage. Rejects with an OptionError. */
export async function openAzureStorage({
  type: _,
  ...options
}: z.infer<typeof azureStorageSchema>): Promise<AzureStorage> {
  const { createAzureStorage } = await import("../../../storage/azure.ts");
  return createAzureStorage(options);
}
