import { toStoragePath } from "../../account/path.ts";
import { createError } from "../../http/errors.ts";
import { jsonReply, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import type { QuotaResponse } from "../../schemas/quota.ts";
import { type FolderUsage, findUsage, toLimitsAround } from "./quota-usage.ts";

/** `GET` and `HEAD /home/__svc__/quota`: how much is used, and how much is left. */
export async function getQuota(context: AccountContext): Promise<Reply> {
  const { account, config, files, scheme } = context;
  const { quota } = config;
  if (quota === undefined || scheme === "link") throw createError("not-found");
  const results: QuotaResponse["results"] = [];
  for (const { virtual, real } of [{ virtual: [], real: account.home }, ...account.virtualFolders]) {
    const folder = toStoragePath(real);
    const limits = toLimitsAround(context, folder);
    if (limits.length === 0 && real !== account.home) continue;
    const usage = await findUsage(quota, folder, limits, await files.locateContent(virtual));
    results.push(toEntry(toStoragePath(virtual), usage));
  }
  return jsonReply(200, { results } satisfies QuotaResponse);
}

function toEntry(path: string, { bytes, files }: FolderUsage): QuotaResponse["results"][number] {
  return {
    path,
    used_bytes: bytes.used,
    limit_bytes: bytes.limit,
    available_bytes: bytes.available,
    used_files: files.used,
    limit_files: files.limit,
    available_files: files.available,
  };
}
