import { createWireCheck, type WireCheck } from "./wire-check.ts";
import { tapSockets } from "./wire-tap.ts";

const tap = tapSockets({ begin: (exchange) => check.begin(exchange), take: (exchange) => check.take(exchange) });
const check: WireCheck = createWireCheck(tap.unheard);

/** Asks whoever serves this URL for its description, before it may be gone. */
export function askForDescription(url: string): void {
  check.ask(url);
}

/** What all exchanges over sockets since the last time had that their descriptions have not; those under way are told of as far as they came. */
export function settleWire(): Promise<readonly string[]> {
  tap.flush();
  return check.settle();
}
