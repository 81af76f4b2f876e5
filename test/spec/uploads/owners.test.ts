import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import type { StorageUploads } from "../../../src/contracts/storage-uploads.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { recordedBody } from "../../support/bodies.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { base64, createUploadService, DRAFT_CONTENT, TUS_CONTENT, UNKNOWN_UPLOAD } from "./calls.ts";

describe("uploads of other accounts", () => {
  it("do not exist, whatever the request holds: 404, the same as for unknown ones (R 5.1)", async () => {
    const { createByTus, patch, tus, draft, call } = await createUploadService();
    const url = await createByTus("secret.txt", { "upload-length": "6" });
    await patch(url, 0, "abc");
    const complete = await createByTus("done.txt", { "upload-length": "0" });
    for (const own of [url, complete]) {
      for (const as of ["bob", "root"] as const) {
        const answers = async (target: string) => [
          await tus("HEAD", target, {}, { as }),
          await tus("DELETE", target, {}, { as }),
          await patch(target, 3, "def", {}, { as }),
          await patch(target, 0, "def", {}, { as }),
          await draft("HEAD", target, {}, { as }),
          await draft(
            "PATCH",
            target,
            { "upload-offset": "3", "upload-complete": "?1", "content-type": DRAFT_CONTENT },
            { as },
          ),
        ];
        const [known, unknown] = [await answers(own), await answers(UNKNOWN_UPLOAD)];
        for (const [index, answer] of known.entries()) {
          expect(answer.status).toBe(404);
          expect(answer.text).toBe(unknown[index]?.text);
          const without = (name: string) => [...answer.headers].filter(([one]) => one !== name).toString();
          expect(without("server-path")).toBe(
            [...(unknown[index]?.headers ?? [])].filter(([one]) => one !== "server-path").toString(),
          );
          expect(answer.header("server-path")).toBe(own.slice("/home".length));
        }
        expect((await call("GET", "/home/__svc__/uploads/", { as })).json()).toEqual({ uploads: [] });
      }
    }
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("3");
  });

  it("need a login before anything is said of them (R 9.1)", async () => {
    const { createByTus, tus, patch } = await createUploadService();
    const url = await createByTus("a", { "upload-length": "6" });
    const body = recordedBody("abc");
    expect((await patch(url, 0, body.stream, {}, { as: null })).status).toBe(401);
    expect(body.pulls()).toBe(0);
    expect((await tus("HEAD", url, { "tus-resumable": "9" }, { as: null })).status).toBe(401);
    expect((await tus("DELETE", url, {}, { as: null })).status).toBe(401);
  });

  it("share memory with all others of their account, whatever the case of its name", async () => {
    const storage = createMemoryStorage();
    const uploads = storage.uploads as StorageUploads;
    const owners: unknown[] = [];
    const watched: StorageAdapter = {
      ...storage,
      write(path, content, options) {
        owners.push(options?.owner);
        return storage.write(path, content, options);
      },
      uploads: {
        ...uploads,
        append(key, offset, content, options) {
          owners.push(options?.owner);
          return uploads.append(key, offset, content, options);
        },
      },
    };
    const named = { username: "Alice", password: "secret", home_folder_path: "/alice" };
    const { createByTus, patch, call } = await createUploadService({
      storage: watched,
      authentication: createAccountsAuthenticator({ accounts: [named] }),
    });
    const login = { authorization: `Basic ${base64("Alice:secret")}` };
    const as = null;
    await call("PUT", "/home/whole.txt", { body: "abc", headers: login, as });
    const url = await createByTus("parts.txt", { ...login, "upload-length": "3" }, { as });
    await patch(url, 0, "abc", login, { as });
    expect(owners).toEqual(["alice", "alice"]);
  });

  it("are not changed by pages of other sites (R 5.7)", async () => {
    const { createByTus, tus, patch } = await createUploadService();
    const url = await createByTus("a", { "upload-length": "6" });
    const evil = { origin: "https://evil.example" };
    expect((await patch(url, 0, "abc", evil)).status).toBe(403);
    expect((await tus("DELETE", url, evil)).status).toBe(403);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("0");
  });
});

describe("ids of uploads", () => {
  it.each([
    ["too short", "0".repeat(31)],
    ["too long", "0".repeat(33)],
    ["upper case", "A".repeat(32)],
    ["not hexadecimal", "g".repeat(32)],
    ["with a path below", `${"0".repeat(32)}/x`],
    ["a folder", `${"0".repeat(32)}/`],
    ["percent-encoded to something else", `${"0".repeat(31)}%2e`],
    ["a name of objects", "__proto__"],
  ])("are 404 where they are %s, for every method (R 1.2)", async (_, id) => {
    const { call, tus } = await createUploadService();
    const undescribed = "no such URL";
    for (const method of ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "MKCOL"]) {
      expect((await call(method, `/home/__svc__/uploads/${id}`, { undescribed })).status, method).toBe(404);
      expect((await tus(method, `/home/__svc__/uploads/${id}`, {}, { undescribed })).status, method).toBe(404);
    }
  });

  it("are 128 random bits, other ones each time (R 1.2)", async () => {
    const { createByTus } = await createUploadService();
    const urls = new Set<string>();
    for (let count = 0; count < 20; count++) urls.add(await createByTus("a", { "upload-length": "1" }));
    expect(urls.size).toBe(20);
  });

  it("work percent-encoded, as any URL", async () => {
    const { createByTus, tus } = await createUploadService();
    const url = await createByTus("a", { "upload-length": "1" });
    const encoded = `${url.slice(0, -1)}%${(url.charCodeAt(url.length - 1)).toString(16)}`;
    expect((await tus("HEAD", encoded)).status).toBe(200);
  });
});

describe("an account that changes between requests", () => {
  /** A service whose account has other settings with each call of `change`. */
  async function createChanging(first: AccountSettings) {
    const storage = createMemoryStorage();
    for (const folder of ["/alice", "/common", "/other"]) await storage.createFolder(folder);
    let settings = first;
    const authentication = {
      name: "changing",
      authenticate: async () => ({ outcome: "accepted" as const, account: settings }),
    };
    let isFull = false;
    const failing = createFaultyStorage(storage, ({ verb, step }) =>
      isFull && verb === "uploads.complete" && step === "call" ? { fault: "error", error: "no-space" } : undefined,
    );
    const service = await createUploadService({ storage: failing, authentication });
    const setFull = (value: boolean): void => {
      isFull = value;
    };
    function change(next: AccountSettings): void {
      settings = next;
    }
    return { ...service, change, setFull };
  }
  const home = { home_folder_path: "/alice" };

  it("gets 403 on PATCH once it has lost `write`, and may still look and end (R 5.2)", async () => {
    const { createByTus, patch, tus, change } = await createChanging(home);
    const url = await createByTus("a", { "upload-length": "6" });
    change({ ...home, permissions: [["allow-read", "allow-list"]] });
    const body = recordedBody("abc");
    const answer = await patch(url, 0, body.stream);
    expect([answer.status, answer.header("error-code"), body.pulls()]).toEqual([403, "denied", 0]);
    expect((await tus("HEAD", url)).status).toBe(200);
    change(home);
    expect((await patch(url, 0, "abc")).status).toBe(204);
    change({ ...home, permissions: [["allow-read"]] });
    expect((await tus("DELETE", url)).status).toBe(204);
  });

  it("does not complete what now would be another file (R 5.2)", async () => {
    const virtual = (real: string): AccountSettings => ({ ...home, virtual_folders: [["/shared", real]] });
    const { createByTus, patch, tus, change, stored } = await createChanging(virtual("/common"));
    const url = await createByTus("a", { "upload-length": "3" }, { folder: "/home/shared/" });
    change(virtual("/other"));
    expect((await patch(url, 0, "abc")).status).toBe(403);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("0");
    change(virtual("/common"));
    expect((await patch(url, 0, "abc")).status).toBe(204);
    expect(await stored("/common/a")).toBe("abc");
    expect(await stored("/other/a")).toBeUndefined();
  });

  it("is held to its limit as it is now (R 5.4)", async () => {
    const { createByTus, patch, change } = await createChanging(home);
    const url = await createByTus("a", { "upload-length": "6" });
    change({ ...home, max_file_bytes: 5 });
    const answer = await patch(url, 0, "abc");
    expect([answer.status, answer.header("tus-max-size")]).toEqual([413, "5"]);
    change(home);
    expect((await patch(url, 0, "abcdef")).status).toBe(204);
  });

  it("is held to its limit at a later completion, too, and is told the limit (R 5.4)", async () => {
    const { createByTus, patch, tus, change, setFull, events } = await createChanging(home);
    const url = await createByTus("a", { "upload-length": "6" });
    setFull(true);
    expect((await patch(url, 0, "abcdef")).status).toBe(507);
    setFull(false);
    change({ ...home, max_file_bytes: 5 });
    const answer = await tus("HEAD", url);
    expect([answer.status, answer.header("tus-max-size"), answer.header("upload-offset")]).toEqual([413, "5", null]);
    expect((await tus("HEAD", url)).status).toBe(404);
    expect(events.map(({ id }) => id)).toEqual([40021, 40022]);
  });
});

describe("a virtual folder", () => {
  it("has uploads in its real folder, which the first one creates (R 5.8)", async () => {
    const storage = createMemoryStorage();
    const authentication = createAccountsAuthenticator({
      accounts: [{ username: "alice", password: "secret", virtual_folders: [["/shared", "/common/shared"]] }],
      logger: createRecordingLogger(),
    });
    const { createByTus, patch, stored, events, tus } = await createUploadService({ storage, authentication });
    const url = await createByTus("a", { "upload-length": "3" }, { folder: "/home/shared/" });
    expect((await patch(url, 0, "abc")).header("server-path")).toBe("/shared/a");
    expect(await stored("/common/shared/a")).toBe("abc");
    expect(events[0]?.data).toEqual({ path: "/shared/a", real_path: "/common/shared/a" });
    const headers = { "upload-length": "3", "content-type": TUS_CONTENT };
    expect((await tus("POST", "/home/shared", headers)).status).toBe(409);
  });
});
