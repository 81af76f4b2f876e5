import { describe, expect, it } from "vitest";
import type { LinkOptions } from "../../../src/config/links.ts";
import type { NewLink } from "../../../src/contracts/links.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { quickHasher } from "../../support/quick-hasher.ts";
import { createTestService, type TestService, type TestServiceOptions } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const SECRET = "a secret of the tests, 32 characters or more";
const files = {
  "/alice/reports/a.csv": "1,2,3",
  "/alice/reports/2018/b.csv": "4,5,6",
  "/alice/private.txt": "nobody's business",
};

interface Setting extends TestService {
  /** Makes a link of alice; returns the path of its URL. */
  link(wanted: Partial<NewLink>): Promise<string>;
}

async function set(links: Partial<LinkOptions> = {}, options: TestServiceOptions = {}): Promise<Setting> {
  const own = { secret: SECRET, store: createMemoryKeyValueStore(), passwordHasher: quickHasher, ...links };
  const created = await createTestService({ files, links: own, isDescribed: false, ...options });
  return {
    ...created,
    link: async (wanted) =>
      (await created.service.links.create({ username: "alice", path: "/reports", ...wanted })).urlPath,
  };
}

const anybody = { as: null } as const;

describe("a folder link (SHARING 1)", () => {
  it("has its folder as the root of what is below its URL", async () => {
    const { link, call } = await set();
    const url = await link({});
    const listing = await call("GET", url, { ...anybody, variant: "json" });
    expect(listing.status).toBe(200);
    expect(listing.json<{ content: { name: string }[] }>().content.map(({ name }) => name)).toEqual(["a.csv", "2018"]);
    expect((await call("GET", `${url}a.csv`, anybody)).text).toBe("1,2,3");
    expect((await call("GET", `${url}2018/b.csv`, anybody)).text).toBe("4,5,6");
    expect((await call("GET", `${url}2018`, anybody)).header("location")).toBe(`${url}2018/`);
    expect((await call("GET", `${url}private.txt`, anybody)).status).toBe(404);
    expect((await call("GET", `${url}../private.txt`, anybody)).status).toBe(400);
    expect((await call("PUT", `${url}new.txt`, { ...anybody, body: "x" })).status).toBe(403);
  });

  it("redirects to its URL with /, and answers a ZIP to ?zip", async () => {
    const { link, call } = await set();
    const url = await link({});
    const redirected = await call("GET", url.slice(0, -1), anybody);
    expect([redirected.status, redirected.header("location")]).toEqual([302, url]);
    const archive = await call("GET", `${url}?zip`, { ...anybody, variant: "html" });
    expect([archive.status, archive.header("content-type")]).toEqual([200, "application/zip"]);
  });

  it("tells no other site of itself, and no cache", async () => {
    const { link, call } = await set();
    const url = await link({});
    for (const [path, caching] of [
      ["", "no-store"],
      ["a.csv", "private, no-cache"],
      ["never", "no-store"],
    ]) {
      const answer = await call("GET", `${url}${path}`, anybody);
      expect(answer.header("referrer-policy"), path).toBe("no-referrer");
      expect(answer.header("x-robots-tag"), path).toBe("noindex, nofollow");
      expect(answer.header("cache-control"), path).toBe(caching);
    }
  });
});

describe("a malformed target below a link (SHARING 9.1)", () => {
  it("has what keeps other sites and search engines away, as all answers there have", async () => {
    const { link, call } = await set();
    const url = await link({});
    for (const [path, status] of [
      [`${url}a.csv#x`, 400],
      [`${url}#`, 400],
      [`${url}a%zz`, 400],
      [`${url}a%2fb`, 400],
      [`${url.slice(0, -1)}#`, 404],
      ["/__svc__/share/never/#", 404],
      ["/home/__svc__/links#x", 400],
      ["/home/__svc__/links/%zz", 400],
      ["/home/__svc__/links/a/b", 404],
    ] as const) {
      for (const method of ["GET", "PUT"]) {
        const answer = await call(method, path, { ...(path.startsWith("/__svc__") && anybody), variant: "json" });
        const fields = ["referrer-policy", "x-robots-tag", "cache-control"].map((name) => answer.header(name));
        expect([path, answer.status, ...fields]).toEqual([
          path,
          status,
          "no-referrer",
          "noindex, nofollow",
          "no-store",
        ]);
      }
    }
    const other = await call("GET", "/home/a#b", {});
    expect([other.status, other.header("referrer-policy")]).toEqual([400, null]);
  });
});

describe("a file link (SHARING 1)", () => {
  it("has a root with its file alone", async () => {
    const { link, call } = await set();
    const url = await link({ path: "/reports/a.csv" });
    const listing = await call("GET", url, { ...anybody, variant: "json" });
    expect(listing.json<{ content: { name: string }[] }>().content.map(({ name }) => name)).toEqual(["a.csv"]);
    expect((await call("GET", `${url}a.csv`, anybody)).text).toBe("1,2,3");
    expect((await call("HEAD", `${url}2018/b.csv`, anybody)).status).toBe(404);
    expect((await call("GET", `${url}2018/`, anybody)).status).toBe(404);
    expect((await call("GET", `${url}private.txt`, anybody)).status).toBe(404);
  });
});

describe("a token (SHARING 2)", () => {
  it("with any bit changed is 404, before a store or the storage is asked", async () => {
    const store = createMemoryKeyValueStore();
    const { link, call, storage } = await set({ store });
    const url = await link({});
    const token = url.split("/").at(-2) ?? "";
    let asked = 0;
    const count = async (): Promise<void> => {
      asked += 1;
    };
    const counting = await set(
      { store: { get: count, set: count, delete: count } },
      {
        storage: overrideStorage(storage, {
          async stat(path) {
            await count();
            return storage.stat(path);
          },
        }),
      },
    );
    asked = 0;
    const json = { ...anybody, variant: "json" } as const;
    const unknown = await call("GET", "/__svc__/nothing", json);
    for (let index = 0; index < token.length; index += 1) {
      for (let bit = 0; bit < 7; bit += 1) {
        const changed = String.fromCharCode(token.charCodeAt(index) ^ (1 << bit));
        if (!/^[\w.~-]$/.test(changed)) continue;
        const forged = `${token.slice(0, index)}${changed}${token.slice(index + 1)}`;
        const answer = await counting.call("GET", `/__svc__/share/${forged}/`, json);
        expect([forged, answer.status, answer.text]).toEqual([forged, 404, unknown.text]);
      }
    }
    expect(asked).toBe(0);
    expect((await counting.call("GET", url, anybody)).status).toBe(410);
  });
});

describe("the order of refusals (SHARING 4)", () => {
  it("is 410 for a link that has expired or was withdrawn, or whose account may not have links", async () => {
    const { link, call, advance, service } = await set();
    const url = await link({ expiresIn: 60 });
    const other = await link({});
    const [, withdrawn] = await service.links.list("alice");
    advance(61);
    const json = { ...anybody, variant: "json" } as const;
    const expired = await call("GET", url, json);
    expect([expired.status, expired.json()]).toEqual([410, { errors: [{ message: "The link has expired." }] }]);
    const [live] = await service.links.list("alice");
    expect(await service.links.revoke(live?.id ?? "")).toBe(true);
    expect(await service.links.revoke(withdrawn?.id ?? "")).toBe(false);
    expect((await call("GET", other, json)).json()).toEqual({ errors: [{ message: "The link was withdrawn." }] });
  });

  it("counts uses exactly: of 100 at once three are let through", async () => {
    const { link, call } = await set({}, { limits: { transfersPerLink: 0 } });
    const url = await link({ path: "/reports/a.csv", maxUses: 3 });
    expect((await call("HEAD", `${url}a.csv`, anybody)).header("accept-ranges")).toBe("none");
    const answers = await Promise.all(Array.from({ length: 100 }, () => call("GET", `${url}a.csv`, anybody)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 200).length).toBe(3);
    expect(statuses.filter((status) => status === 410).length).toBe(97);
  });

  it("asks for the password, and takes it by Basic or by the form", async () => {
    const { link, call } = await set();
    const url = await link({ password: "open sesame" });
    const asked = await call("GET", `${url}a.csv`, anybody);
    expect([asked.status, asked.header("www-authenticate")]).toEqual([
      401,
      'Basic realm="Shared link", charset="UTF-8"',
    ]);
    const basic = (password: string) => ({ ...anybody, headers: { authorization: `Basic ${btoa(`x:${password}`)}` } });
    expect((await call("GET", `${url}a.csv`, basic("wrong"))).status).toBe(401);
    expect((await call("GET", `${url}a.csv`, basic("open sesame"))).text).toBe("1,2,3");
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const form = (password: string) => ({
      ...anybody,
      variant: "html" as const,
      headers,
      body: new URLSearchParams({ password }).toString(),
    });
    const page = await call("GET", url, { ...anybody, variant: "html" });
    expect(page.status).toBe(401);
    expect(page.text).not.toMatch(/reports|alice|a\.csv/);
    expect((await call("POST", url, form("wrong"))).status).toBe(401);
    const opened = await call("POST", url, form("open sesame"));
    expect([opened.status, opened.header("location")]).toEqual([303, url]);
    const cookie = opened.header("set-cookie")?.split(";")[0] ?? "";
    expect((await call("GET", `${url}a.csv`, { ...anybody, headers: { cookie } })).text).toBe("1,2,3");
  });
});

describe("passwords of a link (SHARING 8)", () => {
  it("that are wrong lock it for an address after ten of them, also for the right one", async () => {
    const { link, call } = await set();
    const url = await link({ password: "open sesame" });
    const connection = (address: string) => ({
      connection: { peer: { address, port: 1, family: "IPv4" as const, protocol: "TCP" as const } },
    });
    const ask = async (password: string, address: string) =>
      call("GET", `${url}a.csv`, {
        ...anybody,
        ...connection(address),
        headers: { authorization: `Basic ${btoa(`:${password}`)}` },
      });
    for (let count = 0; count < 10; count += 1) expect((await ask(`wrong ${count}`, "192.0.2.1")).status).toBe(401);
    const locked = await ask("open sesame", "192.0.2.1");
    expect([locked.status, locked.text]).toEqual([401, (await ask("wrong", "192.0.2.1")).text]);
    expect((await ask("open sesame", "198.51.100.1")).status).toBe(200);
  });
});

describe("what a link is not", () => {
  it("free archives: one that a form asks for takes a use, too (SHARING 7.1)", async () => {
    const { link, call } = await set();
    const url = await link({ maxUses: 1 });
    const field = (name: string, value: string): string =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const body = `${field("action", "download-members")}${field("selected-members", "a.csv")}--x--\r\n`;
    const ask = () =>
      call("POST", url, { ...anybody, headers: { "content-type": "multipart/form-data; boundary=x" }, body });
    expect((await ask()).header("content-type")).toBe("application/zip");
    expect((await ask()).status).toBe(410);
  });

  it("one of another account that has the same name at another method (SHARING 5.2)", async () => {
    const local = { home_folder_path: "/alice" };
    const { link, call } = await set(
      {},
      {
        authentication: {
          name: "local",
          authenticate: async () => ({ outcome: "unknown" }),
          lookup: async () => ({ outcome: "found", account: local }),
        },
        identify: async () => ({ username: "alice", settings: { home_folder_path: "/elsewhere" } }),
        files: { ...files, "/elsewhere/own.txt": "own" },
      },
    );
    expect(await link({})).toContain("/__svc__/share/");
    const made = await call("POST", "/home/__svc__/links", {
      ...anybody,
      variant: "json",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ path: "/" }),
    });
    const [{ url = "" } = {}] = made.json<{ results: { url?: string }[] }>().results;
    const { pathname } = new URL(url);
    const listing = await call("GET", pathname, { ...anybody, variant: "json" });
    expect(listing.json<{ content: { name: string }[] }>().content.map(({ name }) => name)).toEqual(["own.txt"]);
  });

  it("over when the service gets a store after it was made", async () => {
    const before = await set({ store: undefined as never });
    const url = await before.link({ permissions: ["allow-read", "allow-list", "allow-write"] });
    const after = await set({}, { storage: before.storage });
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        after.advance(5);
        await new Promise((resolve) => setTimeout(resolve, 5));
        controller.enqueue(new TextEncoder().encode("content"));
        controller.close();
      },
    });
    expect((await after.call("PUT", `${url}new.txt`, { ...anybody, body: slow })).status).toBe(201);
  });
});
