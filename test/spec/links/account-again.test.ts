import { describe, expect, it } from "vitest";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { LinkBody } from "../../../src/schemas/links.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { createTestService } from "../../support/service.ts";
import { LINKS } from "./owner-setting.ts";

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

it("shows an account no links of the account that had its name before (SHARING 3.6)", async () => {
  const { id, set, listed, own } = await open(true);
  expect([await listed(), await own()]).toEqual([[id], 200]);
  set({ home_folder_path: "/alice", uuid: "second" });
  expect([await listed(), await own()]).toEqual([[], 404]);
});
