import { describe, expect, it } from "vitest";
import { createTestService } from "../../support/service.ts";

const MANY = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`/alice/many/member-${index}.txt`, ""]));
const LIMITS = { limits: { transfersPerAccount: 2 } };

describe("a listing as JSON that the client has not read", () => {
  it("is a transfer if it is long, as it holds its folder open; HEAD and short ones are none", async () => {
    const { open, call } = await createTestService({ ...LIMITS, files: { ...MANY, "/alice/few/a.txt": "" } });
    const unread = [
      await open("GET", "/home/many/", { variant: "json" }),
      await open("GET", "/home/many/", { variant: "json" }),
    ];
    expect(unread.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await call("GET", "/home/many/", { variant: "json" });
    expect([refused.status, refused.header("retry-after")]).toEqual([503, "5"]);
    expect((await call("PUT", "/home/new.txt", { body: "x", variant: "json" })).status).toBe(503);
    expect((await call("GET", "/home/few/", { variant: "json" })).status).toBe(200);
    expect((await call("HEAD", "/home/many/", { variant: "json" })).status).toBe(200);
    await unread[0]?.body?.cancel();
    const listing = await call("GET", "/home/many/", { variant: "json" });
    expect(listing.json<{ content: unknown[] }>().content).toHaveLength(2000);
    // What was read to its end counts no more.
    expect((await call("GET", "/home/many/", { variant: "json" })).status).toBe(200);
    await unread[1]?.body?.cancel();
  });

  it("lets the service forget a refused one: nothing stays open", async () => {
    const { open, call } = await createTestService({ limits: { transfersPerAccount: 1 }, files: MANY });
    const unread = await open("GET", "/home/many/", { variant: "json" });
    for (let count = 0; count < 5; count += 1)
      expect((await call("GET", "/home/many/", { variant: "json" })).status).toBe(503);
    await unread.body?.cancel();
    expect((await call("GET", "/home/many/", { variant: "json" })).status).toBe(200);
  });
});
