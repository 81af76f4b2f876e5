import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createS3Storage } from "../../src/storage/s3.ts";
import { answerWith, createAsked, type RemoteServer, serveRemote } from "../unit/remote-auth/remote-server.ts";

/*
 * Each test is named after a published failure of another project, and shows that it does not happen here (SECURITY 23,
 * 24).
 */

const opened: RemoteServer[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function serve(...parameters: Parameters<typeof serveRemote>): Promise<RemoteServer> {
  const remote = await serveRemote(...parameters);
  opened.push(remote);
  return remote;
}

const ACCOUNT = JSON.stringify({ account: { username: "alice" } });

describe("questions to a remote endpoint (SECURITY 23)", () => {
  it.each([301, 302, 303, 307, 308])(
    "undici CVE-2023-45143: a redirect (%i) is not followed, and carries no credentials to another host",
    async (status) => {
      const other = await serve();
      const remote = await serve(answerWith(status, "", { location: other.url }));
      const verdict = await createAsked({ url: remote.url }).ask();
      expect([verdict.outcome, remote.requests.length, other.requests.length]).toEqual(["rejected", 1, 0]);
    },
  );

  it("undici CVE-2026-22036: an encoded answer is refused, however often it is encoded", async () => {
    const once = gzipSync(Buffer.from(ACCOUNT));
    const twice = gzipSync(once);
    for (const [body, encoding] of [
      [once, "gzip"],
      [twice, "gzip, gzip"],
      [once, "br"],
      [Buffer.from(ACCOUNT), Array.from({ length: 500 }, () => "gzip").join(", ")],
    ] as const) {
      const headers = { "content-type": "application/json", "content-encoding": encoding };
      const remote = await serve(answerWith(200, body, headers));
      expect((await createAsked({ url: remote.url }).ask()).outcome).toBe("rejected");
      expect(remote.requests[0]?.headers["accept-encoding"]).toBe("identity");
    }
  });

  it("elFinder CVE-2019-6257: nothing of what a user sends decides where is asked", async () => {
    const other = await serve();
    const remote = await serve(answerWith(401));
    for (const name of [
      `@${new URL(other.url).host}/`,
      other.url,
      "//evil",
      "../../admin",
      "a?b#c",
      "\r\nHost: evil",
    ]) {
      await createAsked({ url: remote.url })
        .ask({ username: name, content: name })
        .catch(() => undefined);
    }
    expect(other.requests).toEqual([]);
    expect(new Set(remote.requests.map(({ target }) => target))).toEqual(new Set(["/auth"]));
    expect(remote.requests.length).toBeGreaterThan(0);
  });
});

describe("object stores (SECURITY 24)", () => {
  it("a bucket beside the configured one: no name makes a request of another host, bucket or key", async () => {
    const targets: string[] = [];
    const storage = createS3Storage({
      bucket: "bucket",
      endpoint: "https://s3.example",
      region: "us-east-1",
      accessKeyId: "key",
      secretAccessKey: "the secret of the key",
      prefix: "base",
      fetch: async (input) => {
        targets.push(new Request(input).url);
        return new Response(null, { status: 404 });
      },
    });
    for (const name of ["@evil.example", "?delete", "#", "%2e%2e", "a&b=c", "..%2f", "versions"]) {
      await storage.stat(`/${name}`).catch(() => undefined);
      await storage.read(`/${name}/x`).catch(() => undefined);
    }
    for (const path of ["/../other/x", "/a/../../x", "//x", "/a\\b", "/./x", "x"]) {
      await storage.stat(path).catch(() => undefined);
      await storage.read(path).catch(() => undefined);
    }
    expect(targets.length).toBeGreaterThan(5);
    for (const target of targets) {
      const { host, pathname, searchParams } = new URL(target);
      expect(host).toBe("s3.example");
      expect(pathname).toMatch(/^\/bucket(?:\/base\/|\/?$)/);
      expect(pathname).not.toMatch(/\/\.\.?(?:\/|$)/);
      expect(
        [...searchParams.keys()].filter(
          (key) =>
            !/^(?:list-type|prefix|delimiter|max-keys|start-after|continuation-token|encoding-type|x-id)$/.test(key),
        ),
      ).toEqual([]);
    }
  });
});
