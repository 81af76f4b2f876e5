import { HttpError } from "../../http/http-error.ts";
import type { AccountExchange } from "../../request/context.ts";
import { redirectToFolder } from "../trailing-slash.ts";

/** `POST` and `MKCOL` on a file URL: not supported (4.2, 4.5), unless the URL lacks a folder's trailing `/` (CONTRACT 2.5). */
export async function folderOnly(exchange: AccountExchange): Promise<Response> {
  const { path, files, request } = exchange;
  if ((await files.kindOf(path.segments)) === "folder") return redirectToFolder(exchange, path.segments);
  throw new HttpError("method-not-allowed", `${request.method} is not supported for files.`);
}
