import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { createExchange, exchangeOf, openExchange } from "../../../../src/runtimes/node/exchange.ts";
import { startDraining, stopDraining } from "../../../../src/runtimes/node/shutdown.ts";

/** A request on a socket of a server, which may have sent its last byte. */
function arrive(server: object, writable: boolean) {
  const socket = Object.assign(new EventEmitter(), { server, writable, destroyed: false });
  const req = { socket, headers: {} } as unknown as IncomingMessage;
  const exchange = createExchange(req, new EventEmitter() as unknown as ServerResponse);
  return { opened: openExchange(exchange), isBegun: exchangeOf(req.socket) === exchange };
}

it("begins nothing on a connection whose last answer has gone, while its server ends", async () => {
  const server = {};
  startDraining(server);
  const { opened, isBegun } = arrive(server, false);
  expect(isBegun).toBe(false);
  expect(await Promise.race([opened, Promise.resolve("waits")])).toBe("waits");
  expect(arrive(server, true), "whose answer can still be sent").toEqual({ opened: undefined, isBegun: true });
  stopDraining(server);
  expect(arrive(server, false), "of a server that does not end").toEqual({ opened: undefined, isBegun: true });
});
