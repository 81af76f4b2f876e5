import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type AccountDescription,
  createClient,
  type FolderCommand,
  type FolderCommandOutcome,
} from "../../src/client.ts";
import type { AccountInfo } from "../../src/schemas/account-info.ts";
import type { Command, CommandOutcome } from "../../src/schemas/commands.ts";
import { basic } from "../support/service.ts";
import { failureOf, openClient, stubClient } from "./setup.ts";

describe("the client's requests", () => {
  it.each([
    [{ username: "grün", password: "☃:b" }, basic("grün", "☃:b")],
    [{ session: "0123" }, "session 0123"],
    [{ token: "abc" }, "Bearer abc"],
    ["cookie", null],
  ] as const)("with the credentials %j have Authorization %j", async (credentials, expected) => {
    let authorization: string | null | undefined;
    const fetch: typeof globalThis.fetch = async (url, init) => {
      authorization = new Request(url, init).headers.get("authorization");
      return Response.json({ username: "alice" });
    };
    await createClient({ baseUrl: "http://files.example", credentials, fetch }).whoami();
    expect(authorization).toBe(expected);
  });

  it("are those of a session", async () => {
    const { connect, login } = await openClient({ files: { "/alice/a": "x" } });
    const session = await login();
    expect(await (await connect({ credentials: { session } }).get("/a")).text()).toBe("x");
    const ended = await failureOf(connect({ credentials: { session: "0".repeat(32) } }).get("/a"));
    expect(ended).toMatchObject({ status: 401, code: "session-invalid", name: "FileferryError" });
  });

  it("have types that fit what the service sends", () => {
    expectTypeOf<AccountInfo>().toExtend<AccountDescription>();
    expectTypeOf<CommandOutcome>().toExtend<FolderCommandOutcome>();
    expectTypeOf<Command>().toExtend<FolderCommand>();
  });

  it("are those of an account, which the service describes", async () => {
    const { client } = await openClient();
    expect(await client.whoami()).toMatchObject({ name: "alice", login: "basic", maxFileBytes: null });
  });

  it("ask for the account, with whatever members it has", async () => {
    const account = { name: "alice", groups: ["staff"], quota: { bytes: 5 } };
    const client = stubClient(({ url, headers }) => {
      expect([url, headers.get("accept")]).toEqual(["http://files.example/home/__svc__/account", "application/json"]);
      return Response.json(account);
    });
    expect(await client.whoami()).toEqual(account);
  });
});

describe("the client's errors", () => {
  it("have the code, the text and the time to wait of a service that is busy", async () => {
    const client = stubClient(() =>
      Response.json(
        { errors: [{ message: "Too many concurrent transfers." }] },
        { status: 503, headers: { "Error-Code": "too-many-transfers", "Retry-After": "7" } },
      ),
    );
    const error = await failureOf(client.put("/a", "x"));
    expect(error).toMatchObject({ status: 503, code: "too-many-transfers", retryAfter: 7, outcomes: [] });
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("FileferryError: Too many concurrent transfers.");
  });

  it.each([
    ["120", 120],
    ["Mon, 01 Jan 2001 00:00:00 GMT", 0],
    ["soon", undefined],
  ])("have for Retry-After %j the seconds %j", async (value, expected) => {
    const client = stubClient(() => new Response("", { status: 503, headers: { "Retry-After": value } }));
    expect((await failureOf(client.remove("/a"))).retryAfter).toBe(expected);
  });

  it("have for a date in Retry-After the seconds until then", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const client = stubClient(() => new Response("", { status: 503, headers: { "Retry-After": date } }));
    const { retryAfter } = await failureOf(client.remove("/a"));
    expect(retryAfter).toBeGreaterThan(3000);
    expect(retryAfter).toBeLessThanOrEqual(3600);
  });

  it.each(["", "<html>Bad gateway</html>", "null", "[]", '{"errors":"none"}', '{"errors":[null,7]}'])(
    "are of a proxy if the body is %j",
    async (body) => {
      const error = await failureOf(stubClient(() => new Response(body, { status: 502 })).get("/a"));
      expect(error).toMatchObject({ status: 502, code: undefined, retryAfter: undefined });
      expect(error.message).toBe("The service responded with status 502.");
    },
  );

  it("have the cause if the network fails", async () => {
    const cause = new TypeError("fetch failed");
    const error = await failureOf(stubClient(() => Promise.reject(cause)).get("/a"));
    expect(error).toMatchObject({ status: undefined, code: undefined, cause });
  });

  it("have the cause if a JSON response is cut off", async () => {
    const error = await failureOf(stubClient(() => new Response('{"username":')).whoami());
    expect(error.cause).toBeInstanceOf(SyntaxError);
  });

  it.each([
    [undefined, { name: "AbortError" }],
    [new RangeError("own"), { message: "own" }],
  ])("are the reason of a signal that is aborted before and during a request", async (reason, expected) => {
    const { client } = await openClient();
    await expect(client.stat("/", { signal: AbortSignal.abort(reason) })).rejects.toMatchObject(expected);
    const aborting = new AbortController();
    const waiting = stubClient(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ).get("/a", { signal: aborting.signal });
    aborting.abort(reason);
    await expect(waiting).rejects.toMatchObject(expected);
  });
});
