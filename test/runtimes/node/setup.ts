import { beforeEach } from "vitest";
import { watchEscapes } from "./raw-client.ts";

export {
  connectWire,
  deferred,
  delay,
  eventually,
  exchange,
  listen,
  PlainResponse,
  serve,
  stubService,
  type WireClient,
} from "./raw-client.ts";

// In each test of a file that imports this module, no error may reach the process.
beforeEach(() => {
  watchEscapes();
});
