import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtFolder, ensureBuilt } from "../support/built.ts";
import { standBetween } from "../support/openapi/between.ts";
import { toWorkerBundle } from "../support/workers/worker-bundle.ts";

/** A worker as its author would write it: everything made once, outside the handler. */
const WORKER = `
import { createAccountsAuthenticator, createFileService } from "./index.js";
import { createMemoryStorage } from "./storage/memory.js";

const service = createFileService({
  storage: createMemoryStorage(),
  authentication: createAccountsAuthenticator({
    accounts: [{ username: "alice", password: "secret", home_folder_path: "/" }],
  }),
});

export default { fetch: (request) => service.fetch(request) };
`;

const BASIC = { Authorization: `Basic ${btoa("alice:secret")}` };
const JSON_API = { Accept: "application/json" };

/** Sends again what workerd did not read: it may close an idle connection when `fetch` uses it. */
function retry(send: () => Promise<Response>): Promise<Response> {
  return send().catch(send);
}

let worker: Miniflare | undefined;
let origin: string;

beforeAll(async () => {
  await ensureBuilt();
  const { outputFiles } = await build(toWorkerBundle(WORKER));
  worker = new Miniflare({
    modules: [{ type: "ESModule", path: join(builtFolder, "worker.js"), contents: outputFiles[0]?.text ?? "" }],
    compatibilityDate: "2026-04-01",
    cf: false,
  });
  const url = await worker.ready;
  origin = url.origin;
  // Miniflare adds this field to content that it forwards unchanged.
  standBetween(Number(url.port), { adds: ["content-encoding"] });
}, 300_000);

afterAll(() => worker?.dispose());

describe("the built package in workerd, without nodejs_compat", () => {
  it("answers 401 to whoever has no credentials", async () => {
    const response = await fetch(`${origin}/home/`, { headers: JSON_API });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("basic");
    expect(await response.json()).toMatchObject({ errors: [{ title: "Unauthorized" }] });
  });

  it("stores a file, gives it back whole and in part, lists it and removes it", async () => {
    const headers = { ...BASIC, ...JSON_API };
    const url = `${origin}/home/grüße.txt`;
    expect((await fetch(url, { method: "PUT", headers, body: "0123456789" })).status).toBe(201);

    const whole = await fetch(url, { headers });
    expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);

    const part = await fetch(url, { headers: { ...headers, Range: "bytes=2-4" } });
    expect([part.status, await part.text()]).toEqual([206, "234"]);
    expect(part.headers.get("content-range")).toBe("bytes 2-4/10");

    const listing = await fetch(`${origin}/home/`, { headers });
    expect(listing.status).toBe(200);
    expect(JSON.stringify(await listing.json())).toContain("grüße.txt");

    expect((await fetch(url, { method: "DELETE", headers })).status).toBe(204);
    expect((await fetch(url, { headers })).status).toBe(404);
  });

  it("stores a body of some megabytes that comes in chunks", async () => {
    const body = new Uint8Array(3 * 1024 * 1024).map((_byte, index) => index % 251);
    const put = { method: "PUT", headers: BASIC, body: new Blob([body]).stream(), duplex: "half" } as RequestInit;
    expect((await fetch(`${origin}/home/big.bin`, put)).status).toBe(201);
    const stored = await fetch(`${origin}/home/big.bin`, { headers: BASIC });
    expect(Buffer.from(await stored.arrayBuffer()).equals(body)).toBe(true);
  });

  it("lists a folder of 3,000 members, also after a client has left in the middle of it", async () => {
    const url = `${origin}/home/many/`;
    const headers = { ...BASIC, ...JSON_API };
    await fetch(url, { method: "PUT", headers });
    const numbers = Array.from({ length: 3000 }, (_, index) => index);
    while (numbers.length > 0) {
      const some = numbers.splice(0, 100);
      await Promise.all(some.map((number) => retry(() => fetch(url + number, { method: "PUT", headers, body: "x" }))));
    }
    for (let round = 0; round < 3; round += 1) {
      const leaving = new AbortController();
      const left = fetch(url, { headers, signal: leaving.signal }).then((response) => response.text());
      leaving.abort();
      await expect(left).rejects.toThrow();
      const listing = await retry(() => fetch(url, { headers }));
      expect(((await listing.json()) as { content: unknown[] }).content).toHaveLength(3000);
    }
  });

  it("shows a folder as a page, with its style and both parts of its script", async () => {
    await fetch(`${origin}/home/page/`, { method: "PUT", headers: { ...BASIC, ...JSON_API } });
    const page = await fetch(`${origin}/home/page/`, { headers: { ...BASIC, "Accept-Language": "de" } });
    expect([page.status, page.headers.get("content-language")]).toEqual([200, "de"]);
    const text = await page.text();
    expect(text).toContain("Dieser Ordner ist leer.");
    const assets = [...text.matchAll(/"(\/__svc__\/assets\/[^"]+)"/g)].map(([, path]) => path);
    expect(assets).toHaveLength(3);
    for (const path of assets) expect((await fetch(origin + path)).headers.get("cache-control")).toContain("immutable");
  });

  it("keeps a session from login to logout", async () => {
    const login = await fetch(`${origin}/__svc__/login`, {
      method: "POST",
      headers: { ...JSON_API, "Content-Type": "application/json" },
      body: JSON.stringify({ username: "alice", password: "secret" }),
    });
    expect(login.status).toBe(200);
    const { results } = (await login.json()) as { results: { session: string }[] };
    const headers = { ...JSON_API, Authorization: `session ${results[0]?.session}` };
    expect((await fetch(`${origin}/home/`, { headers })).status).toBe(200);
    await fetch(`${origin}/__svc__/logout`, { method: "POST", headers });
    expect((await fetch(`${origin}/home/`, { headers })).status).toBe(401);
  });

  it("refuses a wrong password", async () => {
    const headers = { ...JSON_API, Authorization: `Basic ${btoa("alice:wrong")}` };
    expect((await fetch(`${origin}/home/`, { headers })).status).toBe(401);
  });
});
