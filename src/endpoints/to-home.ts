import type { Exchange } from "./endpoint.ts";
import { redirectToFolder } from "./slash-redirect.ts";

/** `/` and `/home`: redirects to `/home/` (CONTRACT 2.6). */
export async function toHome(exchange: Exchange): Promise<Response> {
  return redirectToFolder(exchange, []);
}
