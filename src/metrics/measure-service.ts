import type { RequestHandler } from "../contracts/file-service.ts";

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
  function measured(handle: RequestHandler): RequestHandler {
    return async (request, connection) => {
      const startedAt = clock();
      const response = await handle(request, connection);
      const method = METHODS.includes(request.method) ? request.method : "other";
      onRequest({ method, status: response.status, seconds: Math.max(0, clock() - startedAt) / 1000 });
      return response;
    };
  }

  const own = APIS.flatMap((api) => {
    const handle = service[api];
    return handle === undefined ? [] : [[api, measured(handle)]];
  });
  return { ...service, ...Object.fromEntries(own) };
}
