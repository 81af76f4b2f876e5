import { describe, expect, it } from "vitest";
import { DROP, openVisits } from "./visits.ts";

const byTus = (name: string) => ({
  "tus-resumable": "1.0.0",
  "upload-length": "5",
  "upload-metadata": `filename ${btoa(name)}`,
});

describe("what a link tells", () => {
  it("is never its token in the events of what is not there (SHARING 9.3)", async () => {
    const { link, visit, owner, events } = await openVisits();
    const [url, other] = [await link({}), await link({})];
    const token = url.split("/").at(-2) ?? "";
    const otherToken = other.split("/").at(-2) ?? "";
    expect((await visit("GET", url + token)).status).toBe(404);
    expect((await visit("GET", `${url}docs/__svc__/share/${otherToken}/a.csv`)).status).toBe(404);
    expect((await owner("GET", `vault/__svc__/share/${token}/a.csv`)).status).toBe(404);
    expect(events.length).toBeGreaterThan(3);
    expect(JSON.stringify(events)).not.toContain(token);
    expect(JSON.stringify(events)).not.toContain(otherToken);
  });

  it("is not which uploads of others are unfinished, unless it may list", async () => {
    const { link, visit } = await openVisits();
    const url = await link({ permissions: ["allow-write", "allow-traverse"] });
    expect((await visit("POST", url, { headers: byTus("a.bin") })).status).toBe(201);
    expect((await visit("GET", `${url}__svc__/uploads/`)).status).toBe(404);
    const listing = await link({ permissions: ["allow-write", "allow-list"] });
    expect((await visit("GET", `${listing}__svc__/uploads/`)).status).toBe(200);
  });

  it("is not which uploads of others to its one file are unfinished", async () => {
    const { link, visit } = await openVisits({ inside: { "inbox/there.txt": "x" } });
    for (const [name, ...permissions] of [
      ["free.txt", "allow-write"],
      ["there.txt", "allow-read", "allow-write", "allow-delete-file"],
    ] as const) {
      const url = await link({ path: `/vault/inbox/${name}`, permissions });
      const created = await visit("POST", url, { headers: byTus(name) });
      expect(created.status).toBe(201);
      expect((await visit("GET", `${url}__svc__/uploads/`)).status).toBe(404);
      const own = { headers: { "tus-resumable": "1.0.0" } };
      expect((await visit("HEAD", created.header("location") ?? "", own)).status).toBe(200);
    }
  });

  it("is not what is around its one file, by the folder of a part (SHARING 1)", async () => {
    const { link, visit, files } = await openVisits({ inside: { "inbox/sub/deep/b.txt": "b", "inbox/pay.xls": "x" } });
    const url = await link({ path: "/vault/inbox/scan.pdf", permissions: ["allow-write"] });
    const part = { "tus-resumable": "1.0.0", "upload-length": "5", "upload-concat": "partial" };
    const content = { ...part, "content-type": "application/offset+octet-stream" };
    for (const folder of ["sub/", "sub/deep/", "sub/never/", "never/", "pay.xls/", "scan.pdf/", "sub/a"]) {
      const answer = await visit("POST", url + folder, { headers: part });
      expect([folder, answer.status, answer.header("error-code")]).toEqual([folder, 403, "link-denied"]);
    }
    const parts = [];
    for (const at of ["", "scan.pdf"]) {
      const created = await visit("POST", url + at, { headers: content, body: "12345" });
      parts.push(created.header("location"));
    }
    const final = { "tus-resumable": "1.0.0", "upload-concat": `final;${parts.join(" ")}` };
    expect((await visit("POST", `${url}scan.pdf`, { headers: final })).status).toBe(201);
    expect((await files())["inbox/scan.pdf"]).toBe("1234512345");
  });

  it("is not how much its account has", async () => {
    const { link, visit } = await openVisits({ limits: { uploadsPerAccount: 1 } });
    const url = await link({ permissions: ["allow-write", "allow-list"] });
    expect((await visit("POST", url, { headers: byTus("a.bin") })).status).toBe(201);
    const refused = await visit("POST", url, { headers: byTus("b.bin") });
    expect([refused.status, refused.header("error-code")]).toEqual([507, "storage-full"]);
    expect(refused.text).not.toMatch(/account|\d unfinished/);
  });

  it("is not whether a name with a long extension is taken in a drop folder (SHARING 6.2)", async () => {
    const name = `a.${"x".repeat(250)}`;
    const { link, visit, files } = await openVisits({ inside: { [`inbox/${name}`]: "first" } });
    const url = await link(DROP);
    expect((await visit("PUT", url + name, { body: "second" })).status).toBe(201);
    const stored = Object.keys(await files()).map((path) => path.slice("inbox/".length));
    expect(stored).toHaveLength(2);
    for (const one of stored) expect(Buffer.byteLength(one)).toBeLessThanOrEqual(255);
  });
});
