import type { FileService } from "../contracts/file-service.ts";
import type { Logger } from "../contracts/logger.ts";

/** Where the API of OpenTelemetry keeps what a process has registered. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/**
 * Adds a span for each request if something in this process has set OpenTelemetry up, such as a module that
 * `NODE_OPTIONS` imports. The API is an optional peer dependency: without it `logger` gets a warning.
 */
export async function traceIfSetUp(service: FileService, logger: Pick<Logger, "warn">): Promise<FileService> {
  if (!(REGISTERED in globalThis)) return service;
  try {
    const { traceService } = await import("../tracing.ts");
    return traceService(service);
  } catch {
    logger.warn({}, "There are no spans: OpenTelemetry is set up, but @opentelemetry/api is not installed.");
    return service;
  }
}
