import type { Exchange } from "../../request/context.ts";
import { redirectToFolder } from "../trailing-slash.ts";

/** `/` and `/home`: redirects to `/home/` (CONTRACT 2.6). */
export async function toHome(exchange: Exchange): Promise<Response> {
  return redirectToFolder(exchange, []);
}
