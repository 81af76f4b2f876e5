import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { createExchange, exchangeOf } from "../../../../src/runtimes/node/exchange.ts";
import { openExchange } from "../../../../src/runtimes/node/pipelining.ts";
import { startDraining, stopDraining } from "../../../../src/runtimes/node/shutdown.ts";

/** A request on a socket of a server. If the socket is not writable, its last response was sent. */
function arrive(server: object, writable: boolean) {
  const socket = Object.assign(new EventEmitter(), { server, writable, destroyed: false });
  const req = { socket, headers: {} } as unknown as IncomingMessage;
  const exchange = createExchange(req, new EventEmitter() as unknown as ServerResponse);
  return { opened: openExchange(exchange), isStarted: exchangeOf(req.socket) === exchange };
}

it("starts nothing on a connection whose last response was sent, while its server is draining", async () => {
  const server = {};
  startDraining(server);
  const { opened, isStarted } = arrive(server, false);
  expect(isStarted).toBe(false);
  expect(await Promise.race([opened, Promise.resolve("waits")])).toBe("waits");
  expect(arrive(server, true), "whose response can still be sent").toEqual({ opened: undefined, isStarted: true });
  stopDraining(server);
  expect(arrive(server, false), "of a server that is not draining").toEqual({ opened: undefined, isStarted: true });
});
