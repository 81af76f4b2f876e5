import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import type * as Client from "../../src/client.ts";
import { builtFolder, ensureBuilt } from "../support/built.ts";
import { startCuttingProxy } from "../support/links/cutting-proxy.ts";
import { describeInChromium, eventually, type WatchedPage } from "./chromium.ts";
import { logIn, openSite, PASSWORD, type Site } from "./site.ts";

const MIB = 1024 ** 2;
/** The name by which the scripts of these tests have the client's module. */
type WithClient = typeof globalThis & { readonly fileferry: typeof Client };

let module: string;

/** Opens a page of the service, with the built client in it. The page's policy allows requests to its origin alone. */
async function openClientPage(page: Page, site: Pick<Site, "origin">): Promise<void> {
  await page.goto(`${site.origin}/__svc__/login`);
  const names = /export \{([^}]*)\}/
    .exec(module)?.[1]
    ?.split(",")
    .map((name) => name.trim());
  await page.evaluate(`{ ${module.replace(/export \{[^}]*\};?/, "")}; globalThis.fileferry = { ${names?.join()} }; }`);
}

/** What is in the storage, besides the folders in which it knows of uploads for some time. */
async function listFiles(site: Site): Promise<readonly string[]> {
  return (await site.list()).filter((name) => !name.startsWith(".fileferry-uploads.tmp/"));
}

describeInChromium("fileferry/client in a page", (chromium) => {
  beforeAll(async () => {
    await ensureBuilt();
    module = await readFile(join(builtFolder, "client.js"), "utf8");
  }, 300_000);

  async function open(): Promise<WatchedPage & { readonly site: Site }> {
    const site = await openSite();
    const watched = await chromium.open();
    await openClientPage(watched.page, site);
    return { ...watched, site };
  }

  it("uploads a file with progress up to its total, without cookies", async () => {
    const { page, site, expectNoComplaints } = await open();
    const name = "100 %#? grün ☃";
    const calls = await page.evaluate(
      async ([password, path]) => {
        const { createClient } = (globalThis as WithClient).fileferry;
        const client = createClient({ baseUrl: "", credentials: { username: "alice", password } });
        const calls: (readonly [number, number | undefined])[] = [];
        const onProgress = (sent: number, total: number | undefined) => calls.push([sent, total]);
        await client.put(path, new Uint8Array(20 * 1024 ** 2), { onProgress });
        await client.put("/empty", "", { onProgress });
        return calls;
      },
      [PASSWORD, `/${name}`] as const,
    );
    expect(calls.at(-1)).toEqual([0, 0]);
    const large = calls.filter(([, total]) => total === 20 * MIB);
    expect(large.length).toBeGreaterThan(1);
    expect(large.at(-1)).toEqual([20 * MIB, 20 * MIB]);
    expect(await listFiles(site)).toEqual([name, "empty"]);
    expectNoComplaints();
  });

  it.each([
    ["a file", false],
    ["a function, in parts", true],
  ])("uploads %s over connections that are cut after 3 MiB", async (_what, isFunction) => {
    const site = await openSite();
    const port = Number(new URL(site.origin).port);
    const proxy = await startCuttingProxy(() => port, { bytes: 3 * MIB });
    onTestFinished(() => proxy.close());
    const { page, expectNoComplaints } = await chromium.open();
    await openClientPage(page, proxy);
    const last = await page.evaluate(
      async ([password, isFunction]) => {
        const { createClient } = (globalThis as WithClient).fileferry;
        const client = createClient({ baseUrl: "", credentials: { username: "alice", password } });
        const bytes = Uint8Array.from({ length: 20 * 1024 ** 2 + 7 }, (_, index) => (index * 31) >> 3);
        const file = new File([bytes], "a");
        const content = isFunction ? (offset: number) => file.slice(offset).stream() : file;
        const calls: unknown[] = [];
        await client.put("/a", content, { onProgress: (...call) => calls.push(call) });
        return calls.at(-1);
      },
      [PASSWORD, isFunction] as const,
    );
    const size = 20 * MIB + 7;
    expect(last).toEqual([size, size]);
    expect(proxy.cuts()).toBeGreaterThanOrEqual(6);
    const bytes = Uint8Array.from({ length: size }, (_, index) => (index * 31) >> 3);
    expect((await readFile(join(site.folder, "a"))).equals(bytes)).toBe(true);
    // Chromium sends a request again by itself if a connection that it uses again breaks: then the offset is old.
    expectNoComplaints(/ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|409 \(Conflict\)/);
  });

  it("uploads streams by the session cookie, with and without progress", async () => {
    const { page, site, expectNoComplaints } = await open();
    await logIn(page, site);
    await openClientPage(page, site);
    const calls = await page.evaluate(async () => {
      const { createClient } = (globalThis as WithClient).fileferry;
      const client = createClient({ baseUrl: "", credentials: "cookie" });
      const calls: (readonly [number, number | undefined])[] = [];
      await client.put("/a", new Blob(["hel", "lo"]).stream());
      await client.put("/b", new Blob(["hello"]).stream(), { onProgress: (...call) => calls.push(call) });
      const names: string[] = [];
      for await (const { name } of client.list("/")) names.push(name);
      return { calls: calls.at(-1), names: names.sort(), text: await (await client.get("/a")).text() };
    });
    expect(calls).toEqual({ calls: [5, 5], names: ["a", "b"], text: "hello" });
    expect(await site.content("b")).toBe("hello");
    expectNoComplaints();
  });

  it("keeps the previous file if an upload is aborted or its condition fails", async () => {
    const { page, site, expectNoComplaints } = await open();
    const session = await page.context().newCDPSession(page);
    const uploadThroughput = 10 * MIB;
    await session.send("Network.emulateNetworkConditions", {
      ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
    });
    const outcomes = await page.evaluate(async (password) => {
      const { createClient, FileferryError } = (globalThis as WithClient).fileferry;
      const client = createClient({ baseUrl: location.origin, credentials: { username: "alice", password } });
      await client.put("/a", "old");
      const aborting = new AbortController();
      const describe = (error: unknown) =>
        error instanceof FileferryError ? [error.status, error.code, error.message] : (error as Error).name;
      const options = { signal: aborting.signal, onProgress: () => aborting.abort() };
      return [
        await client.put("/a", new Uint8Array(50 * 1024 ** 2), options).catch(describe),
        await client.put("/a", "new", { ifNoneMatch: "*", onProgress: () => undefined }).catch(describe),
        await client.stat("/none").catch(describe),
      ];
    }, PASSWORD);
    expect(outcomes).toEqual([
      "AbortError",
      [412, "precondition-failed", "A precondition of the request failed."],
      [404, "not-found", "The service responded with status 404."],
    ]);
    expect(await site.content("a")).toBe("old");
    await eventually(() => listFiles(site)).toEqual(["a"]);
    expectNoComplaints(/status of (?:404|412)/);
  });
});
