import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What happens to one call. `reset-before`: it never arrives; `lost`: its answer does not; `cut`: half of its answer
 * does.
 */
export type S3Fault = "none" | "busy" | "reset-before" | "reset-midway" | "lost" | "cut" | "slow";

/** A way to a store on which calls go wrong. */
export interface S3Proxy {
  readonly endpoint: string;
  /** How many calls went wrong. */
  faults(): number;
  close(): Promise<void>;
}

const SLOW_MS = 900;
const BUSY = "<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>x</Message></Error>";

/** Passes calls on to a store, as `choose` decides. */
export async function startS3Proxy(target: string, choose: (call: IncomingMessage) => S3Fault): Promise<S3Proxy> {
  const { hostname, port } = new URL(target);
  let faults = 0;

  const server = createServer((call, answer) => {
    call.on("error", () => undefined);
    answer.on("error", () => undefined);
    const fault = choose(call);
    if (fault !== "none") faults += 1;
    if (fault === "busy") {
      call.resume().on("end", () => answer.writeHead(503, { "Content-Type": "application/xml" }).end(BUSY));
    } else if (fault === "reset-before") call.socket.destroy();
    else pass(call, answer, fault);
  });

  function pass(call: IncomingMessage, answer: ServerResponse, fault: S3Fault): void {
    const { method, url: path, headers } = call;
    const onward = request({ hostname, port, method, path, headers, agent: false }, (found) => {
      if (fault === "lost") {
        found.resume().on("end", () => call.socket.destroy());
        return;
      }
      const goOn = (): void => {
        answer.writeHead(found.statusCode ?? 500, found.headers);
        if (fault === "cut") cut(found, call);
        found.pipe(answer);
      };
      if (fault === "slow") setTimeout(goOn, SLOW_MS);
      else goOn();
    });
    onward.on("error", () => call.socket.destroy());
    call.on("close", () => {
      if (!call.complete) onward.destroy();
    });
    if (fault === "reset-midway") {
      call.once("data", () => setTimeout(() => call.socket.destroy(), 5));
      call.once("end", () => call.socket.destroy());
    }
    call.pipe(onward);
  }

  /** Lets some of an answer through. */
  function cut(found: IncomingMessage, call: IncomingMessage): void {
    const most = Number(found.headers["content-length"] ?? 0) / 2;
    let bytes = 0;
    found.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > most) setImmediate(() => call.socket.destroy());
    });
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults: () => faults,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
