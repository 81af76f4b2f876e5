import { AsyncLocalStorage } from "node:async_hooks";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { toNodeListener } from "../../../src/runtimes/node.ts";
import { eventually, listen, PlainResponse as Response, stubService } from "./setup.ts";

const users = new AsyncLocalStorage<string>();

/** A server that passes on two requests in one step, each with its user, as an application with sessions may do. */
async function createHost(handle: () => Response): Promise<number> {
  const listener = toNodeListener(stubService(handle));
  const held: [IncomingMessage, ServerResponse][] = [];
  const server = createServer((req, res) => {
    held.push([req, res]);
    if (held.length < 2) return;
    for (const [one, response] of held.splice(0)) {
      users.run(one.url?.split("/").at(-1) ?? "", () => listener(one, response));
    }
  });
  return listen(server);
}

async function ask(port: number): Promise<readonly string[]> {
  const answers = ["alice", "bob"].map(async (name) => (await fetch(`http://127.0.0.1:${port}/home/${name}`)).text());
  return Promise.all(answers);
}

describe("two requests that arrive at once", () => {
  it("each see the values of AsyncLocalStorage of their own, when they are handled", async () => {
    const port = await createHost(() => new Response(`${users.getStore()}`));
    expect(await ask(port)).toEqual(["alice", "bob"]);
  });

  it("and when their content is pulled", async () => {
    function pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
      controller.enqueue(new TextEncoder().encode(`${users.getStore()}`));
      controller.close();
    }
    const port = await createHost(() => new Response(new ReadableStream({ pull }, { highWaterMark: 0 })));
    expect(await ask(port)).toEqual(["alice", "bob"]);
  });

  it("and when their clients break the downloads off", async () => {
    const cancelled: unknown[] = [];
    const content = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
        cancel: () => void cancelled.push(users.getStore()),
      });
    const port = await createHost(() => new Response(content()));
    const breakOff = new AbortController();
    const { signal } = breakOff;
    await Promise.all(["alice", "bob"].map((name) => fetch(`http://127.0.0.1:${port}/home/${name}`, { signal })));
    breakOff.abort();
    await eventually(() => cancelled.length === 2, "the cancellations");
    expect(cancelled.sort()).toEqual(["alice", "bob"]);
  });
});
