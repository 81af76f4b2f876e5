import { HttpError } from "../http/http-error.ts";
import type { AccountExchange } from "./endpoint.ts";

/** A browser's form on a folder (4.6). */
export async function postForm(_exchange: AccountExchange): Promise<Response> {
  throw new HttpError("internal", "To be built.");
}
