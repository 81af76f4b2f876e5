import { describe, expect, it } from "vitest";
import { DROP, openVisits } from "./visits.ts";

const settings = { virtual_folders: [["/gone", "/data/new/gone"]] } as const;

describe("a link to a virtual folder whose real folder is missing (SHARING 5.1, CONTRACT 7.2)", () => {
  it("shows an empty folder, and the first upload creates the real one", async () => {
    const { visit, link, storage, stored } = await openVisits({ settings, webdav: {} });
    const url = await link({ path: "/gone", permissions: ["allow-read", "allow-list", "allow-write"] });
    expect((await visit("GET", url, { variant: "json" })).json()).toEqual({ content: [] });
    expect((await visit("GET", url, { variant: "html" })).status).toBe(200);
    expect((await visit("PROPFIND", url, { headers: { depth: "1" } })).status).toBe(207);
    expect((await visit("GET", `${url}a.txt`)).status).toBe(404);
    expect((await visit("PUT", `${url}below/a.txt`, { body: "a" })).status).toBe(409);
    expect(await storage.stat("/data/new")).toBeUndefined();
    expect((await visit("PUT", `${url}a.txt`, { body: "a" })).status).toBe(201);
    expect(await stored("/data/new/gone/a.txt")).toBe("a");
    expect((await visit("GET", `${url}a.txt`)).text).toBe("a");
  });

  it("takes uploads into a drop folder", async () => {
    const { visit, link, stored } = await openVisits({ settings });
    const url = await link({ ...DROP, path: "/gone" });
    expect((await visit("GET", url, { variant: "json" })).json()).toEqual({ content: [] });
    expect((await visit("PUT", `${url}a.txt`, { body: "a" })).status).toBe(201);
    expect(await stored("/data/new/gone/a.txt")).toBe("a");
  });
});
