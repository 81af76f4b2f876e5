import { describe, expect, it } from "vitest";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { quickHasher } from "../../support/quick-hasher.ts";
import { JSON_TYPE, setOwner } from "./owner-setting.ts";

/** A service that counts how often it hashes a password: on a real one, each time costs 0.3 s. */
async function open(maxPerAccount: number) {
  const hashed: string[] = [];
  const passwordHasher = {
    ...quickHasher,
    hash: (password: string) => {
      hashed.push(password);
      return quickHasher.hash(password);
    },
  };
  const links = { secret: LINK_SECRET, store: createMemoryKeyValueStore(), passwordHasher, maxPerAccount };
  const setting = await setOwner({ links });
  const command = (commands: readonly object[]) =>
    setting.call("POST", "/home/reports/", {
      variant: "json",
      headers: JSON_TYPE,
      body: JSON.stringify({ commands }),
    });
  return { ...setting, hashed, command };
}

describe("the password of a new link", () => {
  it("is hashed once for all targets of a request (SHARING 3.5)", async () => {
    const { command, hashed, call } = await open(1000);
    const options = { password: "open sesame" };
    const answer = await command([
      { command: "create-link", target: ["a.csv", "2018", "a.csv"], options },
      { command: "create-link", target: "a.csv", options },
      { command: "create-link", target: "a.csv", options: { password: "another" } },
    ]);
    expect([answer.status, hashed]).toEqual([200, ["open sesame", "another"]]);
    const { results } = answer.json<{ results: { link: { file_url: string | null } }[] }>();
    for (const { link } of results.slice(0, 1).concat(results.slice(2, 4))) {
      const url = new URL(link.file_url ?? "").pathname;
      const headers = { authorization: `Basic ${btoa(":open sesame")}` };
      expect((await call("GET", url, { as: null, headers })).text).toBe("1,2,3");
    }
  });

  it("is not hashed for a link that is refused, such as one too many (SHARING 3.6)", async () => {
    const { command, create, hashed, service } = await open(1);
    const body = { path: "/reports/a.csv", password: "open sesame" };
    for (const refused of [{ path: "/none" }, { expires_in: 1e9 }, { path: "/__svc__" }]) {
      expect((await create({ ...body, ...refused })).status).toBeGreaterThanOrEqual(400);
    }
    expect((await create({ path: "/reports" })).status).toBe(201);
    const tooMany = await create(body);
    expect([tooMany.status, tooMany.header("error-code")]).toEqual([422, "too-many-links"]);
    expect((await command([{ command: "create-link", target: ["a.csv", "2018"], options: body }])).status).toBe(400);
    const options = { password: "open sesame" };
    expect((await command([{ command: "create-link", target: ["a.csv", "2018"], options }])).status).toBe(422);
    const made = service.links.create({ username: "alice", path: "/reports", password: "open sesame" });
    await expect(made).rejects.toMatchObject({ code: "too-many-links" });
    expect(hashed).toEqual([]);
  });
});
