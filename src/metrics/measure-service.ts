import type { RequestHandler } from "../contracts/file-service.ts";

/** A request that was answered. */
export interface MeasuredRequest {
  /** `other` for those that clients may make up. */
  readonly method: string;
  readonly status: number;
  /** Until the answer began. */
  readonly seconds: number;
}

type Api = (typeof APIS)[number];

const APIS = ["fetch", "rest", "webdav", "browser"] as const;
/** Others are counted together: there could be any number of them. */
const METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "MKCOL", "OPTIONS"];

/** The same service; `onAnswer` is told of each request. */
export function measureService<Service extends Partial<Record<Api, RequestHandler>>>(
  service: Service,
  onRequest: (responded: MeasuredRequest) => void,
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
