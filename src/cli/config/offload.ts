import * as z from "zod";
import { type OffloadOptions, toOffload } from "../../config/offload.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import type { S3Storage } from "../../storage/s3.ts";
import { checkByFactory } from "./option-checks.ts";

const proxyMembers = {
  minBytes: z.number().exactOptional(),
  trustedPeers: z.array(z.string()).exactOptional(),
  report: z.boolean().exactOptional(),
};

/** The key `offload`. `presigned` needs no function: the storage has it. */
export const offloadSchema = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("nginx"), prefix: z.string(), ...proxyMembers }),
    z.strictObject({ type: z.literal("apache"), root: z.string(), ...proxyMembers }),
    z.strictObject({
      type: z.literal("presigned"),
      seconds: z.number().exactOptional(),
      minBytes: z.number().exactOptional(),
      webdav: z.boolean().exactOptional(),
    }),
  ])
  .superRefine(checkByFactory((offload) => void toOffload(toOptions(offload, async () => undefined)), 1));

/** The key `offload` of a configuration. */
type OffloadEntry = z.infer<typeof offloadSchema>;

/** The types of storage that each type of offload needs. */
const STORAGES: Readonly<Record<OffloadEntry["type"], readonly string[]>> = {
  nginx: ["disk"],
  apache: ["disk"],
  presigned: ["s3", "azure"],
};

/** Why a storage cannot have an offload; `undefined` if it can. */
export function findOffloadProblem({ type }: OffloadEntry, storage: string): string | undefined {
  const fitting = STORAGES[type];
  return fitting.includes(storage) ? undefined : `needs storage.type ${fitting.map((one) => `"${one}"`).join(" or ")}`;
}

/** Returns the option of the service, of a storage that fits. */
export function toOffloadOptions(offload: OffloadEntry, storage: StorageAdapter): OffloadOptions {
  return toOptions(offload, (storage as S3Storage).presignRead);
}

function toOptions(offload: OffloadEntry, presign: S3Storage["presignRead"]): OffloadOptions {
  return offload.type === "presigned" ? { ...offload, presign } : offload;
}
