import { sha256 } from "@noble/hashes/sha2.js";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client.ts";
import { failureOf, openClient, stubClient } from "./setup.ts";

const DIGEST = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";

describe("a digest of an upload", () => {
  it.each([
    ["a text", "abc"],
    ["a blob", new Blob(["abc"])],
    ["bytes", new TextEncoder().encode("abc")],
    ["a function", async () => new Blob(["abc"]).stream()],
  ])("is sent with %s", async (_, content) => {
    const sent: (string | null)[] = [];
    const client = stubClient((request) => {
      sent.push(request.headers.get("repr-digest"));
      return new Response(null, { status: 201 });
    });
    await client.put("/a", content, { digest: true, resumable: true });
    expect(sent).toEqual([DIGEST]);
  });

  it("is verified by the service, also of large content in one request", async () => {
    const { client, stored } = await openClient();
    const large = "x".repeat(9_000_000);
    await client.put("/large", large, { digest: true });
    expect(await stored("/alice/large")).toBe(large);
    let isChanged = false;
    const changing = async () => {
      const text = isChanged ? "abd" : "abc";
      isChanged = true;
      return new Blob([text]).stream();
    };
    const failure = await failureOf(client.put("/a", changing, { digest: true }));
    expect([failure.status, failure.code]).toEqual([400, "upload-digest-mismatch"]);
    expect(await stored("/alice/a")).toBeUndefined();
  });

  it("needs content that can be read twice", async () => {
    const client = stubClient(() => new Response(null, { status: 201 }));
    const stream = new Blob(["abc"]).stream();
    await expect(client.put("/a", stream, { digest: true })).rejects.toThrow(TypeError);
  });

  it("ends with its signal", async () => {
    const client = stubClient(() => new Response(null, { status: 201 }));
    const signal = AbortSignal.abort();
    await expect(client.put("/a", "abc", { digest: true, signal })).rejects.toThrow("aborted");
  });
});

describe("a verified download", () => {
  it("has the content that the service has", async () => {
    const { client, connect } = await openClient({ digests: {}, files: { "/alice/a": "abc", "/alice/empty": "" } });
    const response = await client.get("/a", { verify: true });
    expect([await response.text(), response.status, response.headers.get("repr-digest")]).toEqual(["abc", 200, DIGEST]);
    expect(response.url).toMatch(/\/home\/a$/);
    expect(await (await client.get("/empty", { verify: true })).text()).toBe("");
    const own = connect({ createSha256: () => sha256.create() });
    expect(await (await own.get("/a", { verify: true })).text()).toBe("abc");
    const ifNoneMatch = response.headers.get("etag") ?? "";
    expect((await client.get("/a", { verify: true, ifNoneMatch })).status).toBe(304);
  });

  it("fails at its end if it has another digest", async () => {
    const client = stubClient(() => new Response("abd", { headers: { "repr-digest": `sha-512=:x:, ${DIGEST}` } }));
    const response = await client.get("/a", { verify: true });
    const failure = await failureOf(response.text());
    expect(failure.code).toBe("digest-mismatch");
  });

  it("fails if the service sends no digest", async () => {
    const client = stubClient(() => new Response("abc"));
    const failure = await failureOf(client.get("/a", { verify: true }));
    expect([failure.code, failure.status]).toEqual(["digest-missing", 200]);
  });

  it("is not requested without a SHA-256", async () => {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      return new Response("abc", { headers: { "repr-digest": DIGEST } });
    };
    const createSha256 = (): never => {
      throw new TypeError("There is no SHA-256.");
    };
    const client = createClient({ baseUrl: "http://files.example", credentials: "cookie", fetch, createSha256 });
    await expect(client.get("/a", { verify: true })).rejects.toThrow("There is no SHA-256.");
    expect(requests).toBe(0);
  });

  it("is none of a range", async () => {
    const client = stubClient(() => new Response("abc"));
    await expect(client.get("/a", { verify: true, range: { start: 1 } })).rejects.toThrow(TypeError);
  });
});
