import { emptyReply, type Reply } from "../../http/reply.ts";

/**
 * `GET /__svc__/health`: whether the service runs, for any client. It asks neither the storage nor a store, so a
 * supervisor does not restart a process because something else fails.
 */
export async function getHealth(): Promise<Reply> {
  return emptyReply(204);
}
