import { describe, expect, it, vi } from "vitest";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { bySession, createTestService, type TestService } from "../../support/service.ts";

/** What can happen to a login while a transfer of it runs. */
type Happening = (test: TestService, headers: Readonly<Record<string, string>>) => Promise<unknown>;

const encoder = new TextEncoder();
const logout: Happening = ({ call }, headers) => call("POST", "/__svc__/logout", { as: null, headers });
const endSessions: Happening = ({ service }) => service.endSessions("alice");
const nothing: Happening = async () => undefined;

/** Three pieces. After the first one something happens, and some seconds pass before each of the others. */
function interrupted(test: TestService, seconds: number, happen: () => Promise<unknown>): ReadableStream<Uint8Array> {
  let step = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        step += 1;
        if (step === 4) return controller.close();
        if (step === 2) await happen();
        if (step > 1) test.advance(seconds);
        // What the service asks in the background is answered meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 5));
        controller.enqueue(encoder.encode("piece"));
      },
    },
    { highWaterMark: 0 },
  );
}

const basic = { authorization: `Basic ${btoa("alice:secret")}` };

describe("a login that ends while an upload of it runs", () => {
  it.each<[string, "session" | "basic", Happening, number]>([
    ["a logout", "session", logout, 401],
    ["the end of all sessions", "session", endSessions, 401],
    ["the end of all sessions", "basic", endSessions, 401],
    ["nothing", "session", nothing, 201],
    ["nothing", "basic", nothing, 201],
  ])("by %s, with %s: the upload is %4$i, and replaces nothing unless it is 201", async (_how, by, happen, status) => {
    for (const seconds of [1, 30]) {
      const events: FileEvent[] = [];
      const onEvent = (event: FileEvent) => void events.push(event);
      const test = await createTestService({ files: { "/alice/a.txt": "former" }, onEvent });
      const headers = by === "session" ? bySession(await test.login()) : basic;
      const body = interrupted(test, seconds, () => happen(test, headers));
      const answer = await test.call("PUT", "/home/a.txt", { as: null, headers, body, variant: "json" });
      expect([seconds, answer.status]).toEqual([seconds, status]);
      expect(await test.stored("/alice/a.txt")).toBe(status === 201 ? "piece".repeat(3) : "former");
      const end = events.find(({ id }) => id === 40017 || id === 40022);
      expect(end?.data).toMatchObject(status === 201 ? { total_write: 15 } : { details: "The login has ended." });
    }
  });

  it.each(["changed", "removed"])("as its account is %s: the former file stays", async (what) => {
    let version: string | undefined = "1";
    const accounts: Authenticator = {
      name: "accounts",
      authenticate: async () => ({ outcome: "accepted", account: { home_folder_path: "/alice" }, version: "1" }),
      isCurrent: async (_username, of) => of === version,
    };
    for (const by of ["session", "basic"]) {
      version = "1";
      const test = await createTestService({ authentication: accounts, files: { "/alice/a.txt": "former" } });
      const headers = by === "session" ? bySession(await test.login()) : basic;
      const body = interrupted(test, 20, async () => {
        version = what === "changed" ? "2" : undefined;
      });
      expect((await test.call("PUT", "/home/a.txt", { as: null, headers, body })).status).toBe(401);
      expect(await test.stored("/alice/a.txt")).toBe("former");
    }
  });

  it("is 503 if that cannot be found out at its end, and the former file stays", async () => {
    let isDown = false;
    const accounts: Authenticator = {
      name: "accounts",
      authenticate: async () => ({ outcome: "accepted", account: { home_folder_path: "/alice" }, version: "1" }),
      isCurrent: async () => {
        if (isDown) throw new Error("down");
        return true;
      },
    };
    const test = await createTestService({ authentication: accounts, files: { "/alice/a.txt": "former" } });
    const headers = bySession(await test.login());
    const body = interrupted(test, 20, async () => {
      isDown = true;
    });
    expect((await test.call("PUT", "/home/a.txt", { as: null, headers, body })).status).toBe(503);
    expect(await test.stored("/alice/a.txt")).toBe("former");
  });
});

describe("a login that ends before a change has arrived", () => {
  const field = (name: string, value: string): string =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const form = { "content-type": "multipart/form-data; boundary=x" };
  const json = { "content-type": "application/json" };
  const commands = JSON.stringify({ commands: [{ command: "delete", target: "folder" }] });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    [
      "a form that removes",
      form,
      `${field("action", "delete-members")}${field("selected-members", "folder")}--x--\r\n`,
    ],
    ["a form that makes a folder", form, `${field("action", "create-folder")}${field("new-folder", "new")}--x--\r\n`],
    ["a command that removes", json, commands],
    ["a trigger", json, JSON.stringify({ commands: [{ command: "approve", target: "folder" }] })],
  ])("is refused: %s", async (_name, type, text) => {
    const run = vi.fn();
    const test = await createTestService({ files: { "/alice/folder/a.txt": "a" }, triggers: { approve: { run } } });
    const headers = { ...bySession(await test.login()), ...type };
    let step = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          step += 1;
          if (step === 1) return controller.enqueue(encoder.encode(text.slice(0, 20)));
          await logout(test, headers);
          test.advance(2);
          controller.enqueue(encoder.encode(text.slice(20)));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const answer = await test.call("POST", "/home/", { as: null, headers, body, variant: "json" });
    expect(answer.text).toContain("The login has ended.");
    expect(run).not.toHaveBeenCalled();
    expect(await test.stored("/alice/folder/a.txt")).toBe("a");
    expect(await test.storage.stat("/alice/new")).toBeUndefined();
  });
});

describe("a login that ends before a link is made or withdrawn", () => {
  it.each([
    ["makes", "application/json", JSON.stringify({ path: "/a.txt" })],
    ["withdraws all", "application/x-www-form-urlencoded", "action=withdraw-all"],
  ])("is refused: a request that %s", async (_what, type, text) => {
    const store = createMemoryKeyValueStore();
    const links = { secret: "a secret of at least 32 characters", store };
    const test = await createTestService({ files: { "/alice/a.txt": "a" }, links });
    const kept = await test.service.links.create({ username: "alice", path: "/a.txt" });
    const headers = { ...bySession(await test.login()), "content-type": type };
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(encoder.encode(text.slice(0, 5)));
        await logout(test, headers);
        test.advance(2);
        controller.enqueue(encoder.encode(text.slice(5)));
        controller.close();
      },
    });
    const answer = await test.call("POST", "/home/__svc__/links", { as: null, headers, body, variant: "json" });
    expect([answer.status, answer.header("error-code")]).toEqual([401, "login-ended"]);
    expect((await test.service.links.list("alice")).map(({ id }) => id)).toEqual([kept.id]);
  });

  it.each<[string, AccountSettings | undefined]>([
    ["is removed", undefined],
    ["may do less", { home_folder_path: "/alice", permissions: [["allow-list"]] }],
  ])("is refused at once if its account %s: its settings do not stay in the link", async (_what, left) => {
    for (const by of ["session", "basic"]) {
      let account: AccountSettings | undefined = { home_folder_path: "/alice" };
      let version = "1";
      const authentication: Authenticator = {
        name: "accounts",
        authenticate: async () => ({ outcome: "accepted", account: account ?? {}, version }),
        lookup: async () => (account === undefined ? { outcome: "unknown" } : { outcome: "found", account }),
        isCurrent: async (_username, of) => of === version,
      };
      const links = { secret: "a secret of at least 32 characters", store: createMemoryKeyValueStore() };
      const test = await createTestService({ authentication, links, files: { "/alice/a.txt": "a" } });
      const headers = by === "session" ? bySession(await test.login()) : basic;
      let isSent = false;
      const body = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (isSent) return controller.close();
            isSent = true;
            account = left;
            version = "2";
            controller.enqueue(encoder.encode(JSON.stringify({ path: "/a.txt" })));
          },
        },
        { highWaterMark: 0 },
      );
      const type = { "content-type": "application/json" };
      const made = { as: null, headers: { ...headers, ...type }, body, variant: "json" } as const;
      const answer = await test.call("POST", "/home/__svc__/links", made);
      expect([by, answer.status, answer.header("error-code")]).toEqual([by, 401, "login-ended"]);
      expect(await test.service.links.list("alice")).toEqual([]);
    }
  });
});

describe("a login that ends before the first file of a form arrives", () => {
  it.each(["session", "basic"])("by %s: the file is not stored, and the page has a challenge", async (by) => {
    const test = await createTestService({ files: { "/alice/a.txt": "former" } });
    const headers = by === "session" ? bySession(await test.login()) : basic;
    const field = '--x\r\nContent-Disposition: form-data; name="action"\r\n\r\nupload-file\r\n';
    const file = '--x\r\nContent-Disposition: form-data; name="upload-file"; filename="a.txt"\r\n\r\nnew\r\n--x--\r\n';
    let step = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          step += 1;
          if (step === 1) return controller.enqueue(encoder.encode(field));
          if (step === 3) return controller.close();
          await endSessions(test, headers);
          test.advance(30);
          controller.enqueue(encoder.encode(file));
        },
      },
      { highWaterMark: 0 },
    );
    const form = { ...headers, "content-type": "multipart/form-data; boundary=x" };
    const answer = await test.call("POST", "/home/", { as: null, headers: form, body, variant: "html" });
    expect([answer.status, answer.header("www-authenticate") !== null]).toEqual([401, true]);
    expect(await test.stored("/alice/a.txt")).toBe("former");
  });
});

describe("a login that has not ended", () => {
  it("holds although the store forgets the generation of an earlier end, or failed at the start", async () => {
    for (const how of ["forgets", "fails"]) {
      const base = createMemoryKeyValueStore();
      let isGone = false;
      const store: KeyValueStore = {
        ...base,
        async get(key) {
          if (key.startsWith("generation:") && isGone === (how === "forgets")) {
            if (how === "fails") throw new Error("down");
            return undefined;
          }
          return base.get(key);
        },
      };
      const test = await createTestService({ session: { store }, basicCacheSeconds: 0 });
      await test.service.endSessions("alice");
      const body = interrupted(test, 20, async () => {
        isGone = true;
      });
      const answer = await test.call("PUT", "/home/a.txt", { as: null, headers: basic, body });
      expect([how, answer.status]).toEqual([how, 201]);
    }
  });

  it("is kept alive by a transfer, also a session that idles out within seconds (CONTRACT 6.3)", async () => {
    const test = await createTestService({ session: { idleSeconds: 6 } });
    const headers = bySession(await test.login());
    const body = interrupted(test, 4, async () => undefined);
    expect((await test.call("PUT", "/home/a.txt", { as: null, headers, body })).status).toBe(201);
    expect((await test.call("GET", "/home/a.txt", { as: null, headers })).status).toBe(200);
  });
});

describe("a login that ends while a download of it runs", () => {
  it.each<[string, Happening, boolean]>([
    ["breaks it off", logout, true],
    ["breaks it off, with all sessions,", endSessions, true],
    ["leaves it alone if nothing happened", nothing, false],
  ])("%s", async (_what, happen, isCut) => {
    const storage = createMemoryStorage();
    const test = await createTestService({ storage, files: { "/alice/a.txt": "piece".repeat(3) } });
    const headers = bySession(await test.login());
    const { read } = storage;
    storage.read = async (...place) => ({
      entry: (await read(...place)).entry,
      body: interrupted(test, 20, () => happen(test, headers)),
    });
    const response = await test.open("GET", "/home/a.txt", { as: null, headers });
    expect(response.status).toBe(200);
    const text = response.text();
    if (isCut) await expect(text).rejects.toThrow();
    else expect(await text).toBe("piece".repeat(3));
  });
});
