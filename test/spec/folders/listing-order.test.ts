import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type Answer, createTestService } from "../../support/service.ts";
import { withLargeFolder } from "../../support/storage.ts";

const FILES = { "/alice/b": "", "/alice/a/": "", "/alice/\uff01": "", "/alice/\u{1f600}": "", "/alice/B": "" };
const SORTED = ["B", "a", "b", "\uff01", "\u{1f600}"];

function prefer(value: string) {
  return { variant: "json", headers: { prefer: value } } as const;
}

function namesOf(answer: Answer): readonly string[] {
  return answer.json<{ content: { name: string }[] }>().content.map(({ name }) => name);
}

describe("GET /home/<folder>/ with Prefer: order=name", () => {
  it.each([
    "order=name",
    'order="name"',
    "respond-async, Order=name; x=y",
    "wait=1,order = name",
    'x="a,b", order=name',
  ])("has the members by the code points of their names: %s", async (value) => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", "/home/", prefer(value));
    expect(namesOf(answer)).toEqual(SORTED);
    expect(answer.header("preference-applied")).toBe("order=name");
    expect(answer.header("vary")).toBe("Accept, Authorization, Cookie, Prefer");
  });

  it.each(["order=size", "order", "orders=name", 'x="order=name"', 'x=", order=name', "order=size, order=name", ""])(
    "has the order of the storage with any other preference: %j",
    async (value) => {
      const { call } = await createTestService({ files: FILES });
      const plain = await call("GET", "/home/", { variant: "json" });
      const answer = await call("GET", "/home/", prefer(value));
      expect([answer.text, answer.header("preference-applied")]).toEqual([plain.text, null]);
      expect(namesOf(answer)).not.toEqual(SORTED);
    },
  );

  it("says that pages have it, too", async () => {
    const { call } = await createTestService({ files: FILES });
    const { variant, headers } = prefer("order=name");
    const answer = await call("GET", "/home/?limit=2", { variant, headers });
    expect([namesOf(answer), answer.header("preference-applied")]).toEqual([SORTED.slice(0, 2), "order=name"]);
  });

  it("sorts 10,000 members; more have the order of the storage, and nothing is missing", async () => {
    const storage = withLargeFolder(createMemoryStorage(), 10_000);
    const sorted = await (await createTestService({ storage })).call("GET", "/home/", prefer("order=name"));
    expect(sorted.header("preference-applied")).toBe("order=name");
    expect(namesOf(sorted).slice(0, 3)).toEqual(["member-0.txt", "member-1.txt", "member-10.txt"]);
    expect(namesOf(sorted)).toHaveLength(10_000);
    const larger = withLargeFolder(createMemoryStorage(), 10_001);
    const { call } = await createTestService({ storage: larger });
    const answer = await call("GET", "/home/", prefer("order=name"));
    expect([answer.header("preference-applied"), answer.status]).toEqual([null, 200]);
    expect(answer.text).toBe((await call("GET", "/home/", { variant: "json" })).text);
  });

  it("is the same for HEAD, and does not change pages for browsers", async () => {
    const { call } = await createTestService({ files: FILES });
    const head = await call("HEAD", "/home/", prefer("order=name"));
    expect([head.status, head.header("preference-applied")]).toEqual([200, "order=name"]);
    expect((await call("HEAD", "/home/none/", prefer("order=name"))).status).toBe(404);
    const page = await call("GET", "/home/", { variant: "html", headers: { prefer: "order=name" } });
    expect([page.status, page.header("preference-applied")]).toEqual([200, null]);
  });

  it("leaves responses to other requests as they are", async () => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", "/home/", { variant: "json" });
    expect(answer.header("vary")).toBe("Accept, Authorization, Cookie");
  });
});
