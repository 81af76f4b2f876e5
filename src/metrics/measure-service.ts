import { KNOWN_METHODS } from "../http/methods.ts";
import { type HandlersOfService, wrapHandlers } from "../http/reply-handler.ts";

/** A request that has a response. */
export interface MeasuredRequest {
  /** `other` for unknown methods: clients can invent any number of them. */
  readonly method: string;
  readonly status: number;
  /** The time until the response started. */
  readonly seconds: number;
}

/** Wraps a service so that `onRequest` is called for each response. */
export function measureService<Service extends HandlersOfService>(
  service: Service,
  onRequest: (request: MeasuredRequest) => void,
  clock: () => number = Date.now,
): Service {
  return wrapHandlers(service, (handle) => async (request, connection) => {
    const startedAt = clock();
    const reply = await handle(request, connection);
    const method = KNOWN_METHODS.has(request.method) ? request.method : "other";
    onRequest({ method, status: reply.status, seconds: Math.max(0, clock() - startedAt) / 1000 });
    return reply;
  });
}
