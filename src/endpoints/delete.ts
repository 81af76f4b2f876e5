import { emptyResponse } from "../http/responses.ts";
import type { AccountExchange } from "./endpoint.ts";
import { redirectToFolder } from "./slash-redirect.ts";

/** `DELETE /home/<path>` and `/home/<folder>/`: removes a file, or a folder with everything under it (4.2, 4.5). */
export async function deletePath(exchange: AccountExchange): Promise<Response> {
  const { path, files } = exchange;
  if (!path.isFolder && (await files.stat(path.segments))?.kind === "folder") {
    return redirectToFolder(exchange, path.segments);
  }
  await files.remove(path.segments, path.isFolder ? "folder" : "file");
  return emptyResponse(204);
}
