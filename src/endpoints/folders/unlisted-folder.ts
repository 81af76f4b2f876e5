import { hasCode } from "../../contracts/storage-adapter.ts";
import { isHttpError } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";

const UNLISTED = ["not-found", "not-a-folder", "denied"] as const;

/**
 * Whether an error of a listing concerns one folder only, so that a walk goes on without its members. That a storage
 * denies one is probably a mistake, which operators see.
 */
export function isOfFolderAlone(error: unknown, { report }: Pick<AccountContext, "report">): boolean {
  if (isHttpError(error)) return error.failure === "denied";
  if (!hasCode(error, ...UNLISTED)) return false;
  if (error.code === "denied") report(error);
  return true;
}
