import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import type { TestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { call, createDav, set } from "./calls.ts";

/** A service for alice, who also sees these folders of the storage; `moves` are the moves that the storage has done. */
async function createFor(
  virtual_folders: NonNullable<AccountSettings["virtual_folders"]>,
): Promise<TestService & { readonly moves: readonly string[] }> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", virtual_folders };
  const inner = createMemoryStorage();
  const moves: string[] = [];
  const storage = overrideStorage(inner, {
    move: (from, to, options) => {
      moves.push(`${from} ${to}`);
      return inner.move(from, to, options);
    },
  });
  const test = await createDav({ storage, authentication: createAccountsAuthenticator({ accounts: [account] }) });
  return { ...test, moves };
}

/** A virtual folder that shows the home folder itself: everything in it has two paths. */
const HOME_AGAIN = [["/again", "/alice"]] as const;

describe("COPY and MOVE with virtual folders", () => {
  it.each([
    ["a folder onto itself", "/home/f/", "/home/again/f/"],
    ["a file onto itself", "/home/a.txt", "/home/again/a.txt"],
    ["into itself", "/home/f/", "/home/again/f/sub/x/"],
    ["onto a folder that it is in", "/home/again/f/sub/", "/home/f/"],
  ])("%s by another path is 403, and nothing is lost", async (_, path, destination) => {
    for (const [method, depth] of [
      ["COPY", "infinity"],
      ["COPY", "0"],
      ["MOVE", "infinity"],
    ] as const) {
      const test = await createFor(HOME_AGAIN);
      const answer = await call(test, method, path, { destination, depth });
      expect([answer.status, answer.header("error-code")]).toEqual([403, "paths-overlap"]);
      expect([await test.stored("/alice/a.txt"), await test.stored("/alice/f/sub/deep.txt")]).toEqual(["a", "deep"]);
    }
  });

  it("a copy of a virtual folder into a folder that it shows is 403, and ends", async () => {
    const test = await createFor(HOME_AGAIN);
    expect((await call(test, "COPY", "/home/again/", { destination: "/home/copy/" })).status).toBe(403);
    expect(await test.storage.stat("/alice/copy")).toBeUndefined();
  });

  it("a copy of a folder with a virtual folder in it takes along what shows in it, and never replaces that", async () => {
    const test = await createFor([["/f/other", "/alice/g"]]);
    await test.call("PUT", "/home/g/in-g.txt", { body: "g" });
    expect((await call(test, "COPY", "/home/f/", { destination: "/home/copy/" })).status).toBe(201);
    expect(await test.stored("/alice/copy/other/in-g.txt")).toBe("g");
    expect((await call(test, "COPY", "/home/f/", { destination: "/home/g/" })).status).toBe(403);
    expect(await test.stored("/alice/g/in-g.txt")).toBe("g");
  });

  it("JSON commands and forms do not replace what they move either", async () => {
    const test = await createFor(HOME_AGAIN);
    const commands = ["move", "copy"].map((command) => ({
      command,
      target: "f",
      destination: "/again/f",
      overwrite: true,
    }));
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ commands });
    expect((await test.call("POST", "/home/", { variant: "json", headers, body })).status).toBe(422);
    expect(await test.stored("/alice/f/sub/deep.txt")).toBe("deep");
  });

  it("a move between the home folder and a virtual one is one move of the storage", async () => {
    const test = await createFor([["/shared", "/team/shared"]]);
    await test.call("PUT", "/home/shared/x.txt", { body: "x" });
    expect((await call(test, "MOVE", "/home/f", { destination: "/home/shared/f" })).status).toBe(201);
    expect((await call(test, "MOVE", "/home/shared/x.txt", { destination: "/home/x.txt" })).status).toBe(201);
    expect(test.moves).toEqual(["/alice/f /team/shared/f", "/team/shared/x.txt /alice/x.txt"]);
    expect(await test.stored("/team/shared/f/sub/deep.txt")).toBe("deep");
  });

  it.each([
    ["MOVE", "/home/again/", "/home/moved/"],
    ["MOVE", "/home/g/", "/home/again/"],
    ["COPY", "/home/g/", "/home/again/"],
  ])("%s %s to %s is 403: virtual folders stay", async (method, path, destination) => {
    const test = await createFor([["/again", "/elsewhere"]]);
    expect((await call(test, method, path, { destination })).status).toBe(403);
  });
});

describe("PROPPATCH of a virtual folder, or of a folder on the way to one", () => {
  it("keeps nothing, and does not fail what Explorer sets (WEBDAV 5.3)", async () => {
    const test = await createFor([["/way/virtual", "/alice/g"]]);
    const windows =
      '<z:Win32LastModifiedTime xmlns:z="urn:schemas-microsoft-com:">Mon, 01 Jan 2001 00:00:00 GMT</z:Win32LastModifiedTime>';
    for (const path of ["/home/way/", "/home/way/virtual"]) {
      const time = await call(test, "PROPPATCH", path, {}, set(windows));
      expect([time.status, time.text.includes("HTTP/1.1 200")]).toEqual([207, true]);
      const dead = await call(test, "PROPPATCH", path, {}, set("<x:a>1</x:a>"));
      expect([dead.status, dead.text.includes("HTTP/1.1 403")]).toEqual([207, true]);
    }
  });
});
