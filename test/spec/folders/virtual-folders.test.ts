import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { mountStorage } from "../../../src/index.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type Answer, createTestService, type TestService } from "../../support/service.ts";
import { fillStorage, overrideStorage, withLinks } from "../../support/storage.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: that is how the configuration spells it.
const USER = "${USER}";

const files = {
  "/alice/own.txt": "own",
  "/alice/pub/hidden.txt": "hidden",
  "/alice/real/own.txt": "real",
  "/data/pub/shared.txt": "shared",
  "/data/pub/sub/deep.txt": "deep",
  "/data/inner/inner.txt": "inner",
  "/data/other/secret.txt": "secret",
};

const VIRTUAL: AccountSettings = {
  virtual_folders: [
    ["/pub", "/data/pub"],
    ["/pub/sub/inner", "/data/inner"],
    ["/way/to/pub", "/data/pub"],
    ["/real/pub", "/data/pub"],
    ["/mine", `/users/${USER}`],
    ["/gone", "/data/gone"],
  ],
};

async function createService(
  settings: AccountSettings = VIRTUAL,
  storage: StorageAdapter = createMemoryStorage(),
): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", ...settings };
  return createTestService({ files, storage, authentication: createAccountsAuthenticator({ accounts: [account] }) });
}

async function namesIn(service: TestService, path: string): Promise<readonly string[]> {
  const answer = await service.call("GET", `/home/${path}`, { variant: "json" });
  expect(answer.status).toBe(200);
  return toNames(answer);
}

function toNames(answer: Answer): readonly string[] {
  const { content } = answer.json<{ content: { name: string; is_directory: boolean }[] }>();
  return content.map(({ name, is_directory }) => (is_directory ? `${name}/` : name)).sort();
}

describe("a virtual folder (2.4, CONTRACT 7.2)", () => {
  it("shows what its real path holds", async () => {
    const { call } = await createService();
    expect((await call("GET", "/home/pub/shared.txt")).text).toBe("shared");
    expect((await call("GET", "/home/pub/sub/deep.txt")).text).toBe("deep");
    expect((await call("HEAD", "/home/pub/shared.txt")).status).toBe(200);
    expect((await call("GET", "/home/pub/shared.txt")).header("server-path")).toBe("/pub/shared.txt");
  });

  it("takes what is written, made and removed below it", async () => {
    const { call, stored, storage } = await createService();
    expect((await call("PUT", "/home/pub/new.txt", { body: "new" })).status).toBe(201);
    expect(await stored("/data/pub/new.txt")).toBe("new");
    expect((await call("PUT", "/home/pub/folder/")).status).toBe(201);
    expect((await storage.stat("/data/pub/folder"))?.kind).toBe("folder");
    expect((await call("DELETE", "/home/pub/folder/")).status).toBe(204);
    expect((await call("DELETE", "/home/pub/new.txt")).status).toBe(204);
    expect(await stored("/data/pub/new.txt")).toBeUndefined();
    expect(await storage.stat("/alice/pub/new.txt")).toBeUndefined();
  });

  it("hides the account's own member of its name", async () => {
    const service = await createService();
    expect((await service.call("GET", "/home/pub/hidden.txt")).status).toBe(404);
    expect(await namesIn(service, "pub/")).toEqual(["shared.txt", "sub/"]);
    expect((await service.call("DELETE", "/home/pub/hidden.txt")).status).toBe(404);
    expect(await service.stored("/alice/pub/hidden.txt")).toBe("hidden");
  });

  it("hides a file and a link of its name too", async () => {
    const storage = withLinks(createMemoryStorage(), ["/alice/linked"]);
    await fillStorage(storage, { "/alice/file": "a file" });
    const service = await createService(
      {
        virtual_folders: [
          ["/file", "/data/pub"],
          ["/linked", "/data/pub"],
          ["/file/x/y", "/data/inner"],
        ],
      },
      storage,
    );
    expect(await namesIn(service, "")).toEqual(["file/", "linked/", "own.txt", "pub/", "real/"]);
    expect((await service.call("GET", "/home/file/shared.txt")).text).toBe("shared");
    expect((await service.call("GET", "/home/file/x/y/inner.txt")).text).toBe("inner");
    expect((await service.call("PUT", "/home/linked", { body: "x", variant: "json" })).status).toBe(422);
    expect((await storage.stat("/alice/linked"))?.kind).toBe("link");
  });

  it("wins by the longest prefix, in whole segments", async () => {
    const service = await createService();
    expect((await service.call("GET", "/home/pub/sub/inner/inner.txt")).text).toBe("inner");
    expect((await service.call("GET", "/home/pub/sub/deep.txt")).text).toBe("deep");
    await service.call("PUT", "/home/publication.txt", { body: "own" });
    expect(await service.stored("/alice/publication.txt")).toBe("own");
    await service.call("PUT", "/home/pub/sub/inner-most.txt", { body: "pub" });
    expect(await service.stored("/data/pub/sub/inner-most.txt")).toBe("pub");
  });

  it("shows in the listing of its parent, once, and its parents that exist nowhere as folders", async () => {
    const service = await createService();
    expect(await namesIn(service, "")).toEqual(["gone/", "mine/", "own.txt", "pub/", "real/", "way/"]);
    expect(await namesIn(service, "way/")).toEqual(["to/"]);
    expect(await namesIn(service, "way/to/")).toEqual(["pub/"]);
    expect(await namesIn(service, "way/to/pub/")).toEqual(["shared.txt", "sub/"]);
    expect(await namesIn(service, "real/")).toEqual(["own.txt", "pub/"]);
    expect(await namesIn(service, "pub/sub/")).toEqual(["deep.txt", "inner/"]);
    for (const path of ["way", "way/to", "way/to/pub", "pub"]) {
      const answer = await service.call("GET", `/home/${path}`);
      expect([answer.status, answer.header("location")]).toEqual([302, `/home/${path}/`]);
    }
  });

  it("holds for a path of the account's name, and its parents that exist nowhere take nothing", async () => {
    const service = await createService();
    await fillStorage(service.storage, { "/users/alice/own.txt": "mine" });
    expect((await service.call("GET", "/home/mine/own.txt")).text).toBe("mine");
    expect((await service.call("PUT", "/home/way/x", { body: "x" })).status).toBe(403);
    expect((await service.call("PUT", "/home/way/x/")).status).toBe(403);
    expect(await service.storage.stat("/alice/way")).toBeUndefined();
  });

  it("is empty while its real folder is missing, and the first member that is created in it creates that", async () => {
    const { call, ...service } = await createService({ virtual_folders: [["/gone", "/data/new/gone"]] });
    expect(await namesIn({ call, ...service }, "gone/")).toEqual([]);
    expect((await call("GET", "/home/gone/x")).status).toBe(404);
    expect((await call("PUT", "/home/gone/below/x", { body: "x" })).status).toBe(409);
    expect(await service.storage.stat("/data/new")).toBeUndefined();
    expect((await call("PUT", "/home/gone/x", { body: "x" })).status).toBe(201);
    expect(await service.stored("/data/new/gone/x")).toBe("x");

    const other = await createService({ virtual_folders: [["/gone", "/data/gone"]] });
    expect((await other.call("MKCOL", "/home/gone/folder/")).status).toBe(201);
    expect((await other.storage.stat("/data/gone/folder"))?.kind).toBe("folder");
  });

  it("creates no real folder without a permission, and refuses where a file is in its place, for the log too", async () => {
    const refused = await createService({
      virtual_folders: [["/gone", "/data/gone"]],
      permissions: [["allow-list"]],
    });
    expect((await refused.call("PUT", "/home/gone/x", { body: "x" })).status).toBe(403);
    expect(await refused.storage.stat("/data/gone")).toBeUndefined();

    const { call, log } = await createService({ virtual_folders: [["/file", "/data/pub/shared.txt/in"]] });
    const answer = await call("PUT", "/home/file/x", { body: "x", variant: "json" });
    expect([answer.status, answer.header("error-code")]).toEqual([403, "storage-denied"]);
    expect(answer.text).not.toContain("shared");
    expect(log.text()).toContain(
      "The real folder /data/pub/shared.txt/in of a virtual folder is missing and cannot be created.",
    );
  });

  it("comes from the group where the account names none (CONTRACT 7.1)", async () => {
    const account = { username: "alice", password: "secret", home_folder_path: "/alice" };
    const authentication = createAccountsAuthenticator({ accounts: [account] });
    const groups = { DEFAULT_GROUP: { virtual_folders: [["/all", "/data/pub"]] as const } };
    const { call } = await createTestService({ files, authentication, groups });
    expect((await call("GET", "/home/all/shared.txt")).text).toBe("shared");
  });
});

describe("the root of a virtual folder (CONTRACT 4.4)", () => {
  it.each(["pub/", "pub/sub/inner/", "way/to/pub/", "way/to/", "way/", "pub/sub/", "real/", "gone/", ""])(
    "is protected, and so is what contains it: DELETE /home/%s is 403 and removes nothing",
    async (path) => {
      for (const variant of ["json", "webdav", "html"] as const) {
        const { call, stored } = await createService();
        expect((await call("DELETE", `/home/${path}`, { variant })).status).toBe(403);
        for (const [file, content] of Object.entries(files)) expect(await stored(file)).toBe(content);
      }
    },
  );

  it("cannot be removed by a command either, nor made, nor overwritten", async () => {
    const { call, stored } = await createService();
    const body = JSON.stringify({
      commands: [
        { command: "delete", target: "pub" },
        { command: "delete", target: "way" },
        { command: "create-folder", target: "pub" },
        { command: "create-folder-if-missing", target: "way" },
      ],
    });
    const answer = await call("POST", "/home/", { headers: { "content-type": "application/json" }, body });
    expect(answer.status).toBe(422);
    const { errors } = answer.json<{ errors: { message: string | null }[] }>();
    expect(errors.map(({ message }) => message === null)).toEqual([false, false, false, true]);
    expect((await call("PUT", "/home/pub/", { variant: "json" })).status).toBe(422);
    expect((await call("MKCOL", "/home/way/to/")).status).toBe(405);
    for (const path of ["pub", "way", "way/to"]) {
      expect((await call("PUT", `/home/${path}`, { body: "x", variant: "json" })).status).toBe(422);
      expect((await call("DELETE", `/home/${path}`)).status).toBe(307);
    }
    for (const [file, content] of Object.entries(files)) expect(await stored(file)).toBe(content);
  });

  it("is an ordinary refusal: the log has no failed request", async () => {
    const { call, log } = await createService({ virtual_folders: [["/lone/way/pub", "/data/pub"]] });
    const options = { variant: "json" } as const;
    expect((await call("DELETE", "/home/lone/way/pub/", options)).status).toBe(403);
    expect((await call("PUT", "/home/lone/new", { ...options, body: "new" })).status).toBe(403);
    expect((await call("PUT", "/home/lone/new/", options)).status).toBe(403);
    expect(log.entries).toEqual([]);
  });

  it("lets a folder inside it go", async () => {
    const { call, storage } = await createService({ virtual_folders: [["/pub", "/data/pub"]] });
    expect((await call("DELETE", "/home/pub/sub/")).status).toBe(204);
    expect(await storage.stat("/data/pub/sub")).toBeUndefined();
  });
});

describe("permissions in virtual folders", () => {
  it("go by the virtual path (CONTRACT 7.4)", async () => {
    const permissions = [["allow-full-control"], ["/pub/*", "allow-read"], ["/data/*", "deny-full-control"]];
    const { call, stored } = await createService({ ...VIRTUAL, permissions });
    expect((await call("GET", "/home/pub/shared.txt")).status).toBe(200);
    expect((await call("PUT", "/home/pub/shared.txt", { body: "x" })).status).toBe(403);
    expect((await call("PUT", "/home/way/to/pub/shared.txt", { body: "by another way" })).status).toBe(201);
    expect(await stored("/data/pub/shared.txt")).toBe("by another way");
  });

  it("protect the whole tree that is removed by what is in a virtual folder's tree (CONTRACT 4.4)", async () => {
    const permissions = [["allow-full-control"], ["/pub/sub/deep.txt", "allow-read"]];
    const { call, stored } = await createService({ virtual_folders: [["/pub", "/data/pub"]], permissions });
    expect((await call("DELETE", "/home/pub/sub/")).status).toBe(403);
    expect(await stored("/data/pub/sub/deep.txt")).toBe("deep");
  });
});

describe("the reserved name (CONTRACT 2.3)", () => {
  it("cannot be a virtual folder: the login is refused; one below another folder is no reserved one", async () => {
    const refused = await createService({ virtual_folders: [["/__svc__", "/data/pub"]] });
    expect((await refused.call("GET", "/home/", { variant: "json" })).status).toBe(401);
    const service = await createService({ virtual_folders: [["/a/__svc__", "/data/pub"]] });
    expect((await service.call("GET", "/home/a/__svc__/shared.txt")).status).toBe(200);
  });
});

describe("a virtual folder in another storage (mountStorage)", () => {
  it("is read from and written to that storage", async () => {
    const archive = createMemoryStorage();
    await fillStorage(archive, { "/2018/old.txt": "old" });
    const disk = createMemoryStorage();
    const service = await createService(
      { virtual_folders: [["/archive", "/archive/2018"]] },
      mountStorage({ "/": disk, "/archive": archive }),
    );
    expect((await service.call("GET", "/home/archive/old.txt")).text).toBe("old");
    expect((await service.call("PUT", "/home/archive/new.txt", { body: "new" })).status).toBe(201);
    expect((await archive.stat("/2018/new.txt"))?.size).toBe(3);
    expect((await service.call("DELETE", "/home/archive/")).status).toBe(403);
    expect(await disk.stat("/archive")).toBeUndefined();
  });
});

describe("a listing with virtual folders", () => {
  it("reads the real folder once, and none of the virtual ones", async () => {
    const base = createMemoryStorage();
    const listed: string[] = [];
    const storage = overrideStorage(base, {
      list(path) {
        listed.push(path);
        return base.list(path);
      },
    });
    const service = await createService(VIRTUAL, storage);
    await namesIn(service, "");
    expect(listed).toEqual(["/alice"]);
  });
});
