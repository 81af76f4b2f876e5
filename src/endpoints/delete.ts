import { StorageError } from "../contracts/storage-adapter.ts";
import { evaluatePreconditions } from "../http/conditional.ts";
import { emptyResponse } from "../http/responses.ts";
import type { AccountExchange } from "./endpoint.ts";
import { redirectToFolder } from "./slash-redirect.ts";
import { toValidators } from "./validators.ts";

/** `DELETE /home/<path>` and `/home/<folder>/`: removes a file, or a folder with everything under it (4.2, 4.5). */
export async function deletePath(exchange: AccountExchange): Promise<Response> {
  const { request, path, files, config } = exchange;
  const entry = await files.stat(path.segments);
  if (!path.isFolder && entry?.kind === "folder") return redirectToFolder(exchange, path.segments);
  if (entry !== undefined && evaluatePreconditions(request, toValidators(entry), config.clock()) !== "met") {
    throw new StorageError("precondition-failed");
  }
  await files.remove(path.segments, path.isFolder ? "folder" : "file");
  return emptyResponse(204);
}
