import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { failureOf, openClient } from "./setup.ts";

describe("versions by the client", () => {
  it("are listed, downloaded, restored and removed, also below a base path", async () => {
    const storage = createVersionsStorage(createMemoryStorage());
    const { client } = await openClient({ storage, versions: storage.versions, basePath: "/files" });
    const path = "/a b+ü?.txt";
    for (const content of ["one", "two", "three"]) await client.put(path, content);
    const [two, one] = await client.versions(path);
    expect(two).toEqual({ id: expect.any(String), modified: expect.any(Number), size: 3 });
    const part = await client.get(path, { version: one?.id, range: { start: 1 } });
    expect([part.status, await part.text()]).toEqual([206, "ne"]);
    const outcomes = await client.runOnVersions(path, [
      { command: "restore", target: one?.id ?? "" },
      { command: "purge", target: [two?.id ?? ""] },
    ]);
    expect(outcomes.map(({ message }) => message)).toEqual([null, null]);
    expect(await (await client.get(path)).text()).toBe("one");
    const failure = await failureOf(client.runOnVersions(path, [{ command: "purge", target: "none" }]));
    expect([failure.status, failure.outcomes]).toEqual([422, [{ target: "none", message: "Not found." }]]);
    expect((await failureOf(client.versions("/none"))).status).toBe(404);
  });
});
