import JSZip from "jszip";
import { describe, expect, it } from "vitest";
import { streamOf } from "../support/bodies.ts";
import { collect, failureOf, openClient, stubClient } from "./setup.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

async function namesIn(archive: Response): Promise<readonly string[]> {
  const { files } = await JSZip.loadAsync(await archive.arrayBuffer());
  return Object.keys(files).filter((name) => !name.endsWith("/"));
}

describe("folders by the client", () => {
  it("are listed below a base path, by an address with or without a slash at its end", async () => {
    const { connect, origin } = await openClient({ basePath: "/files", files: { "/alice/b/c": "12" } });
    const entry = { name: "b", is_directory: true, modified: expect.any(Number), size: 0 };
    expect(await collect(connect().list("/"))).toEqual([entry]);
    expect(await collect(connect({ baseUrl: new URL(`${origin}/files/`) }).list("/"))).toEqual([entry]);
  });

  it("yield 5,000 members, which arrive in parts", async () => {
    const names = Array.from({ length: 5000 }, (_, index) => `☃ "${index}" \\ }],{`.replaceAll("\\", "%5C"));
    const { client } = await openClient({
      files: Object.fromEntries(names.map((name) => [`/alice/${name}`, "x"])),
    });
    const found = (await collect(client.list("/"))).map(({ name }) => name);
    expect(found.toSorted()).toEqual(names.toSorted());
  });

  it("are read in pages, also below a base path", async () => {
    const files = { "/alice/f/b": "1", "/alice/f/a": "22", "/alice/f/c/": "" };
    const { client } = await openClient({ basePath: "/files", files });
    const first = await client.listPage("/f", { limit: 2 });
    expect(first.entries.map(({ name, size }) => [name, size])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
    const last = await client.listPage("/f", { limit: 2, cursor: first.cursor });
    expect([last.entries.map(({ name }) => name), last.cursor]).toEqual([["c"], undefined]);
    const outdated = await failureOf(client.listPage("/", { limit: 1, cursor: first.cursor }));
    expect([outdated.code, outdated.status]).toEqual(["cursor-outdated", 409]);
    expect((await failureOf(client.listPage("/f", { limit: 0 }))).code).toBe("limit-invalid");
  });

  it("are searched, with what is below, and with what is missing", async () => {
    const { client } = await openClient({
      files: { "/alice/f/a b/Näme #1.txt": "22", "/alice/f/name": "1" },
      limits: { searchResults: 2 },
    });
    const found = await client.search("/f", "name");
    expect(found.entries.map(({ path, size }) => [path, size])).toEqual([
      ["name", 1],
      ["a b/Näme #1.txt", 2],
    ]);
    expect(found.truncated).toBe(false);
    expect((await client.search("/", "a")).truncated).toBe(true);
    expect((await failureOf(client.search("/f", ""))).code).toBe("search-invalid");
    expect((await failureOf(client.search("/none", "x"))).status).toBe(404);
  });

  it("yield whole members however the listing is cut into parts", async () => {
    const content = ['a"b', "\\", '\\"}', "},{", "[", "grün ☃ 😀", ""].map((name) => ({ name, modified: null }));
    const bytes = new TextEncoder().encode(JSON.stringify({ content }, null, 1));
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start(controller) {
          for (let start = 0; start < bytes.length; start += size)
            controller.enqueue(bytes.subarray(start, start + size));
          controller.close();
        },
      });
      expect(await collect(stubClient(() => new Response(body, { headers: JSON_TYPE })).list("/"))).toEqual(content);
    }
  });

  it("yield members before the listing has ended, and give up the rest when the caller stops", async () => {
    let isCancelled = false;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"content":[{"name":"a"},{"name":"')),
      cancel() {
        isCancelled = true;
      },
    });
    for await (const { name } of stubClient(() => new Response(body)).list("/")) {
      expect(name).toBe("a");
      break;
    }
    expect(isCancelled).toBe(true);
  });

  it.each(["", "<html>", "<style>a {", '{"content":[', '{"content":[{"name":"a"}', '{"content":[{]}'])(
    "are not listed if the response is %j",
    async (text) => {
      const listing = collect(stubClient(() => new Response(streamOf(text) as BodyInit)).list("/"));
      expect(await failureOf(listing)).toMatchObject({ status: undefined, cause: expect.any(SyntaxError) });
    },
  );

  it("are not listed further when the signal is aborted", async () => {
    const aborting = new AbortController();
    const { client } = await openClient({ files: { "/alice/a": "x" } });
    aborting.abort();
    await expect(collect(client.list("/", { signal: aborting.signal }))).rejects.toMatchObject({ name: "AbortError" });
  });

  it("are archives, whole or in part", async () => {
    const { client } = await openClient({ files: { "/alice/f/a": "1", "/alice/f/b ☃": "2", "/alice/f/c": "3" } });
    expect(await namesIn(await client.archive("/f"))).toEqual(["f/a", "f/b ☃", "f/c"]);
    expect(await namesIn(await client.archive("/f", { members: ["b ☃", "c"] }))).toEqual(["b ☃", "c"]);
    const missing = await failureOf(client.archive("/f", { members: ["none"] }));
    expect(missing).toMatchObject({ status: expect.any(Number), code: "not-found" });
    expect(await failureOf(client.archive("/none"))).toMatchObject({ status: 404, message: "Not found." });
  });

  it("run commands, and tell the result of each target if one fails", async () => {
    const { client } = await openClient({ files: { "/alice/a": "1" } });
    const done = await client.run("/", [
      { command: "delete", target: "a" },
      { command: "create-folder", target: "b" },
    ]);
    expect(done).toEqual([
      { target: "a", message: null },
      { target: "b", message: null },
    ]);
    const failed = await failureOf(
      client.run("/", [
        { command: "create-folder-if-missing", target: "b" },
        { command: "delete", target: "none" },
      ]),
    );
    expect(failed).toMatchObject({ status: 422, code: "not-found", message: "none: Not found." });
    expect(failed.outcomes).toEqual([
      { target: "b", message: null },
      { target: "none", message: "Not found." },
    ]);
    const malformed = await failureOf(client.run("/", [{ command: "none", target: "b" }]));
    expect(malformed).toMatchObject({ status: 400, code: "commands-malformed", outcomes: [] });
  });

  it("are created once, below a folder that exists", async () => {
    const { client } = await openClient();
    await client.createFolder("/a");
    expect(await failureOf(client.createFolder("/a"))).toMatchObject({ status: 422, code: "already-exists" });
    expect(await failureOf(client.createFolder("/x/y"))).toMatchObject({ status: 422, code: "parent-missing" });
  });
});
