import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { LinkBody } from "../../../src/schemas/links.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { basic, createTestService } from "../../support/service.ts";
import { JSON_TYPE, LINKS, pathOf } from "./owner-setting.ts";

/** A service whose account alice is deleted and made again by the test. */
async function open(hasStore: boolean) {
  let settings: AccountSettings | undefined = { home_folder_path: "/alice", uuid: "first" };
  const authentication: Authenticator = {
    name: "accounts of the test",
    async authenticate() {
      return settings === undefined ? { outcome: "unknown" } : { outcome: "accepted", account: settings };
    },
    async lookup() {
      return settings === undefined ? { outcome: "unknown" } : { outcome: "found", account: settings };
    },
  };
  const own = hasStore ? { store: createMemoryKeyValueStore() } : {};
  const test = await createTestService({
    authentication,
    files: { "/alice/a.txt": "a" },
    links: { secret: LINK_SECRET, ...own },
  });
  const { urlPath, id } = await test.service.links.create({ username: "alice", path: "/a.txt" });
  return {
    id,
    set: (next: AccountSettings | undefined) => {
      settings = next;
    },
    visit: async () => {
      const { status, text } = await test.call("GET", `${urlPath}a.txt`, { as: null, variant: "json" });
      return [status, status === 200 ? text : /"message": ?"([^"]*)"/.exec(text)?.[1]];
    },
    listed: async () => {
      const { content } = (await test.call("GET", LINKS, { variant: "json" })).json<{ content: LinkBody[] }>();
      return content.map((link) => link.id);
    },
    own: async () => (await test.call("GET", `${LINKS}/${id}`, { variant: "json" })).status,
  };
}

describe.each([
  ["with a store", true],
  ["that has everything in its URL", false],
])("a link %s (SHARING 5.2)", (_, hasStore) => {
  it("does not live again with another account of the same name", async () => {
    const { set, visit } = await open(hasStore);
    expect(await visit()).toEqual([200, "a"]);
    set(undefined);
    expect(await visit()).toEqual([410, "The link is no longer valid."]);
    set({ home_folder_path: "/alice", uuid: "second" });
    expect(await visit()).toEqual([410, "The link is no longer valid."]);
    set({ home_folder_path: "/alice" });
    expect(await visit()).toEqual([410, "The link is no longer valid."]);
    set({ home_folder_path: "/alice", uuid: "first", email: "alice@example.com" });
    expect(await visit()).toEqual([200, "a"]);
  });
});

it("is not made by the application if its account ends meanwhile (SHARING 5.2)", async () => {
  let lookups = 0;
  const { service } = await createTestService({
    authentication: {
      name: "accounts of the test",
      authenticate: async () => ({ outcome: "unknown" }),
      async lookup() {
        lookups += 1;
        return lookups > 1 ? { outcome: "unknown" } : { outcome: "found", account: { home_folder_path: "/alice" } };
      },
    },
    links: { secret: LINK_SECRET },
  });
  const made = service.links.create({ username: "alice", path: "/" });
  await expect(made).rejects.toMatchObject({ code: "account-unusable" });
});

it("shows an account no links of the account that had its name before (SHARING 3.6)", async () => {
  const { id, set, listed, own } = await open(true);
  expect([await listed(), await own()]).toEqual([[id], 200]);
  set({ home_folder_path: "/alice", uuid: "second" });
  expect([await listed(), await own()]).toEqual([[], 404]);
});

describe("names that differ in case alone (SHARING 3.6)", () => {
  /** A service with links, of which an account may have one. */
  async function openNames(authentication: Authenticator) {
    const links = { secret: LINK_SECRET, store: createMemoryKeyValueStore(), maxPerAccount: 1 };
    const test = await createTestService({ authentication, links, files: { "/one/a.txt": "a", "/other/": "" } });
    const by = (name: string, method: string, path = LINKS, body?: string) =>
      test.call(method, path, {
        as: null,
        variant: "json",
        headers: { ...(body && JSON_TYPE), authorization: basic(name, "secret") },
        body,
      });
    const listed = async (name: string) => (await by(name, "GET")).json<{ content: LinkBody[] }>().content.map(toId);
    return { ...test, by, listed };
  }

  const toId = ({ id }: { readonly id: string }) => id;
  const make = JSON.stringify({ path: "/" });

  it.each([
    ["without a uuid", {}, {}],
    ["with a uuid each", { uuid: "u-1" }, { uuid: "u-2" }],
  ])("are two accounts %s: none of them sees or ends links of the other one", async (_, one, other) => {
    const accounts = [
      { username: "alice", password: "secret", home_folder_path: "/one", ...one },
      { username: "ALICE", password: "secret", home_folder_path: "/other", ...other },
    ];
    const { by, listed, call, service } = await openNames(
      createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }),
    );
    const [link] = (await by("alice", "POST", LINKS, make)).json<{ results: [LinkBody] }>().results;
    expect([await listed("alice"), await listed("ALICE")]).toEqual([[link.id], []]);
    expect((await service.links.list("alice")).map(toId)).toEqual([link.id]);
    expect(await service.links.list("ALICE")).toEqual([]);
    for (const method of ["GET", "DELETE"]) expect((await by("ALICE", method, `${LINKS}/${link.id}`)).status).toBe(404);
    expect((await by("ALICE", "DELETE")).status).toBe(204);
    expect(await service.links.revokeAll("ALICE")).toBe(0);
    // Limits take other spellings for one account, so that none of them passes a limit.
    expect((await by("ALICE", "POST", LINKS, make)).header("error-code")).toBe("too-many-links");
    const visit = async () => (await call("GET", pathOf(link.url), { as: null, variant: "json" })).status;
    expect(await visit()).toBe(200);
    expect((await by("alice", "DELETE")).status).toBe(204);
    expect(await visit()).toBe(410);
  });

  it("are one account of a method that takes any case and has a uuid", async () => {
    const account = { home_folder_path: "/one", uuid: "u-1" };
    const { by, listed, service } = await openNames({
      name: "any case",
      authenticate: async () => ({ outcome: "accepted", account }),
    });
    const [link] = (await by("alice", "POST", LINKS, make)).json<{ results: [LinkBody] }>().results;
    expect(await listed("Alice")).toEqual([link.id]);
    expect((await by("Alice", "DELETE", `${LINKS}/${link.id}`)).status).toBe(204);
    expect((await by("ALICE", "POST", LINKS, make)).status).toBe(201);
    // No method can look the account up: this alone ends its links.
    expect(await service.links.revokeAll("alice")).toBe(1);
    expect(await listed("ALICE")).toEqual([]);
  });
});
