export { traceService } from "./service/trace-service.ts";
