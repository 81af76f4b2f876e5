import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "./endpoint.ts";

/** `GET /__svc__/assets/<name>`: style and script of the pages. */
export async function getAsset(_exchange: Exchange): Promise<Response> {
  throw new HttpError("not-found", "Not found.");
}
