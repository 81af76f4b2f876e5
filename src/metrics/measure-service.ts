import type { RequestHandler } from "../contracts/file-service.ts";
import { createHandler, toReplyHandler } from "../http/reply-handler.ts";

/** A request that has a response. */
export interface MeasuredRequest {
  /** `other` for unknown methods, of which clients may invent any number. */
  readonly method: string;
  readonly status: number;
  /** The time until the response started. */
  readonly seconds: number;
}

type Api = (typeof APIS)[number];

const APIS = ["fetch", "rest", "webdav", "browser"] as const;
const METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "MKCOL", "OPTIONS"];

/** Wraps a service so that `onRequest` is called for each response. */
export function measureService<Service extends Partial<Record<Api, RequestHandler>>>(
  service: Service,
  onRequest: (request: MeasuredRequest) => void,
  clock: () => number = Date.now,
): Service {
  function measured(handler: RequestHandler): RequestHandler {
    const handle = toReplyHandler(handler);
    return createHandler(async (request, connection) => {
      const startedAt = clock();
      const reply = await handle(request, connection);
      const method = METHODS.includes(request.method) ? request.method : "other";
      onRequest({ method, status: reply.status, seconds: Math.max(0, clock() - startedAt) / 1000 });
      return reply;
    });
  }

  const own = APIS.flatMap((api) => {
    const handle = service[api];
    return handle === undefined ? [] : [[api, measured(handle)]];
  });
  return { ...service, ...Object.fromEntries(own) };
}
