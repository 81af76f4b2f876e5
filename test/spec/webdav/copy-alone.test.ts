import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import type { TestService } from "../../support/service.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";
import { call, createDav, prop, set } from "./calls.ts";

type Permission = NonNullable<AccountSettings["permissions"]>[number][number];

function createFor(...permissions: readonly Permission[]): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", permissions: [permissions] };
  return createDav({
    authentication: createAccountsAuthenticator({ accounts: [account as AccountSettings & typeof account] }),
  });
}

const alone = (destination: string) => ({ destination, depth: "0" });

describe("COPY of depth 0 of a folder", () => {
  it("removes nothing if the account may not create the folder", async () => {
    const test = await createFor("allow-list", "allow-delete-file", "allow-delete-folder");
    expect((await call(test, "COPY", "/home/g/", alone("/home/f/"))).status).toBe(403);
    expect(await test.stored("/alice/f/sub/deep.txt")).toBe("deep");
  });

  it("needs no permission to set attributes for the properties that it takes along", async () => {
    const test = await createFor("allow-list", "allow-create-folder");
    const properties = new Map([["{urn:x}a", '<a xmlns="urn:x">1</a>']]);
    await test.storage.attributes?.change("/alice/f", { properties });
    expect((await call(test, "COPY", "/home/f/", alone("/home/new/"))).status).toBe(201);
    const { text } = await call(test, "PROPFIND", "/home/new/", { depth: "0" }, prop("<x:a/>"));
    expect(text).toContain(">1<");
  });

  it("needs the permission to list the folder, as every copy of it", async () => {
    const test = await createFor("allow-create-folder");
    for (const depth of ["0", "infinity"]) {
      expect((await call(test, "COPY", "/home/f/", { destination: "/home/new/", depth })).status).toBe(403);
    }
    expect(await test.storage.stat("/alice/new")).toBeUndefined();
  });

  it("loses nothing that others put into the new folder before its properties cannot be stored", async () => {
    const memory = createMemoryStorage();
    const change = async (): Promise<never> => {
      await fillStorage(memory, { "/alice/new/mine": "mine" });
      throw new StorageError("no-space");
    };
    const storage = overrideStorage(memory, {
      attributes: { properties: async () => new Map([["{x}p", "1"]]), change },
    });
    const test = await createDav({ storage });
    expect((await call(test, "COPY", "/home/f/", alone("/home/new/"))).status).toBe(507);
    expect(await test.stored("/alice/new/mine")).toBe("mine");
  });

  it("is one event, as every copy", async () => {
    const events: FileEvent[] = [];
    const test = await createDav({ onEvent: (event) => void events.push(event) });
    await call(test, "PROPPATCH", "/home/f/", {}, set("<x:a>1</x:a>"));
    events.length = 0;
    await call(test, "COPY", "/home/f/", alone("/home/new/"));
    await call(test, "COPY", "/home/f/", alone("/home/new/"));
    await call(test, "COPY", "/home/f/", { ...alone("/home/new/"), overwrite: "F" });
    const location = {
      path: "/f",
      real_path: "/alice/f",
      destination: "/new",
      destination_real_path: "/alice/new",
    };
    expect(events.map(({ id, data }) => [id, data])).toEqual([
      [49001, { ...location, replaced: false }],
      [49001, { ...location, replaced: true }],
      [49002, { ...location, details: "A file or folder with that name already exists." }],
    ]);
  });
});

describe("COPY and MOVE that fail", () => {
  it.each([
    ["MOVE", 40056],
    ["COPY", 49002],
  ])("%s of what is not there is an event", async (method, id) => {
    const events: FileEvent[] = [];
    const test = await createDav({ onEvent: (event) => void events.push(event) });
    expect((await call(test, method, "/home/none", { destination: "/home/x" })).status).toBe(404);
    expect(events.map((event) => event.id)).toEqual([40007, id]);
  });

  it("conditions tell nothing of a file that the account may not see", async () => {
    const test = await createFor("allow-rename", "allow-write");
    const headers = { destination: "/home/b.txt", "if-unmodified-since": "Mon, 01 Jan 2001 00:00:00 GMT" };
    for (const method of ["COPY", "MOVE"]) {
      expect((await call(test, method, "/home/a.txt", headers)).status).toBe(403);
    }
    expect((await call(test, "MOVE", "/home/a.txt", { destination: "/home/b.txt" })).status).toBe(201);
  });
});
