import { StorageError } from "../contracts/storage-adapter.ts";
import { evaluatePreconditions } from "../http/conditional.ts";
import { emptyResponse } from "../http/responses.ts";
import type { AccountExchange } from "./endpoint.ts";
import { redirectIfFolder } from "./slash-redirect.ts";
import { toValidators } from "./validators.ts";

/** `DELETE /home/<path>` and `/home/<folder>/`: removes a file, or a folder with everything under it (4.2, 4.5). */
export async function deletePath(exchange: AccountExchange): Promise<Response> {
  const { path, files } = exchange;
  try {
    await checkPreconditions(exchange);
  } catch (error) {
    return redirectIfFolder(exchange, error);
  }
  await files.remove(path.segments, path.isFolder ? "folder" : "file");
  return emptyResponse(204);
}

async function checkPreconditions({ request, path, files, config }: AccountExchange): Promise<void> {
  const entry = await files.stat(path.segments, path.isFolder ? "delete-folder" : "delete-file");
  if (entry !== undefined && evaluatePreconditions(request, toValidators(entry), config.clock()) !== "met") {
    throw new StorageError("precondition-failed");
  }
}
