import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { basic, type CallOptions, type WireAnswer, type WireEnvironment } from "./client.ts";

const KEYS = "/home/__svc__/keys";
const ACCEPT = { Accept: "application/json" };
const JSON_TYPE = { ...ACCEPT, "Content-Type": "application/json" };
/** A key that has expired or was revoked may work for a second more. */
const END_MS = 1200;

interface MadeKey {
  readonly id: string;
  readonly key: string;
  /** Sends a request with the key as a Bearer token. */
  send(method: string, target: string, options?: CallOptions): Promise<WireAnswer>;
}

/** Makes a key of alice. */
async function makeKey({ call }: WireEnvironment, wanted: object = {}): Promise<MadeKey> {
  const made = await call("POST", KEYS, { headers: JSON_TYPE, body: JSON.stringify(wanted) });
  expect([made.status, made.header("cache-control")]).toEqual([201, "no-store"]);
  const [result] = made.json<{ results: readonly { id: string; key: string }[] }>().results;
  const { id = "", key = "" } = result ?? {};
  expect(key).toMatch(/^ff_[0-9a-f]{16}_[0-9a-f]{32}$/);
  return {
    id,
    key,
    send: (method, target, options) =>
      call(method, target, {
        ...options,
        as: null,
        headers: { ...ACCEPT, ...options?.headers, Authorization: `Bearer ${key}` },
      }),
  };
}

/** The folder of a case as a path of the account. */
function pathOf({ folder }: WireEnvironment): string {
  return folder.replace(/^\/home/, "").replace(/\/$/, "");
}

async function idsOf({ call }: WireEnvironment): Promise<readonly string[]> {
  const listed = await call("GET", KEYS, { headers: ACCEPT });
  expect(listed.status).toBe(200);
  return listed.json<{ content: readonly { id: string }[] }>().content.map(({ id }) => id);
}

/** What programs do with keys in place of passwords. */
export const keyCases: readonly WireCase[] = [
  wireCase("an API key is a Bearer token, and the password of HTTP Basic", async (environment) => {
    const { call, folder, put } = environment;
    await put("a", "content");
    const { id, key, send } = await makeKey(environment, { label: "backup" });
    expect((await send("GET", `${folder}a`)).text).toBe("content");
    const headers = { ...ACCEPT, Authorization: basic("alice", key) };
    expect((await call("GET", `${folder}a`, { as: null, headers })).text).toBe("content");
    expect((await send("PUT", `${folder}b`, { body: "by key" })).status).toBe(201);
    expect(await environment.names()).toEqual(["a", "b"]);
    expect(await idsOf(environment)).toContain(id);
    const other = { ...ACCEPT, Authorization: basic("guest", key) };
    expect((await call("GET", `${folder}a`, { as: null, headers: other })).status).toBe(401);
  }),
  wireCase("an API key permits what it has, below its path alone", async (environment) => {
    const { call, folder, put } = environment;
    for (const name of ["inside", "outside"]) expect((await call("PUT", `${folder}${name}/`)).status).toBe(201);
    for (const name of ["inside/a", "outside/b"]) await put(name, name);
    const path = `${pathOf(environment)}/inside`;
    const { send } = await makeKey(environment, { path, permissions: ["allow-read", "allow-list"] });
    expect((await send("GET", `${folder}inside/a`)).text).toBe("inside/a");
    expect((await send("GET", `${folder}inside/`)).status).toBe(200);
    for (const [method, target, body] of [
      ["PUT", "inside/a", "changed"],
      ["PUT", "inside/new", "new"],
      ["DELETE", "inside/a", undefined],
      ["GET", "outside/b", undefined],
      ["GET", "outside/none", undefined],
    ] as const) {
      expect((await send(method, folder + target, body === undefined ? {} : { body })).status).toBe(403);
    }
    expect((await send("POST", KEYS, { headers: JSON_TYPE, body: "{}" })).status).toBe(403);
    expect((await call("GET", `${folder}inside/a`)).text).toBe("inside/a");
    expect((await call("GET", `${folder}outside/b`)).text).toBe("outside/b");
  }),
  wireCase("an API key that is revoked, or has expired, is 401", async (environment) => {
    const { call, folder, put } = environment;
    await put("a", "content");
    const revoked = await makeKey(environment);
    const expiring = await makeKey(environment, { expires_in: 1 });
    const lasting = await makeKey(environment, { expires_in: 3600 });
    expect((await revoked.send("GET", `${folder}a`)).status).toBe(200);
    expect((await call("DELETE", `${KEYS}/${revoked.id}`, { headers: ACCEPT })).status).toBe(204);
    expect(await idsOf(environment)).not.toContain(revoked.id);
    await wait(1000 + END_MS);
    const answers = await Promise.all([revoked, expiring, lasting].map(({ send }) => send("GET", `${folder}a`)));
    expect(answers.map(({ status, header }) => [status, header("error-code")])).toEqual([
      [401, "key-invalid"],
      [401, "key-expired"],
      [200, null],
    ]);
  }),
];
