import { createHash } from "node:crypto";
import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { patternOf } from "./cases-files.ts";

const WANTED = { "Want-Repr-Digest": "sha-256=1", "Want-Content-Digest": "sha-512=1" };

function digestOf(content: string | Uint8Array, algorithm: "sha-256" | "sha-512" = "sha-256"): string {
  return `${algorithm}=:${createHash(algorithm.replace("-", "")).update(content).digest("base64")}:`;
}

/** Digests of uploads and downloads (RFC 9530). */
export const digestCases: readonly WireCase[] = [
  wireCase("an upload in chunks has the digests that it announces, and answers one", async ({ call, folder, put }) => {
    const content = patternOf(3_000_000);
    const headers = {
      "Content-Digest": digestOf(content),
      "Repr-Digest": digestOf(content, "sha-512"),
      "Want-Repr-Digest": "sha-256=1",
    };
    const stored = await call("PUT", `${folder}a`, { headers, body: content, chunked: true });
    expect([stored.status, stored.header("repr-digest")]).toEqual([201, digestOf(content)]);
    await put("b", content);
    const file = await call("GET", `${folder}b`, { headers: WANTED });
    expect(file.bytes.equals(content)).toBe(true);
    expect(file.header("repr-digest")).toBe(digestOf(content));
    expect(file.header("content-digest")).toBe(digestOf(content, "sha-512"));
  }),
  wireCase("an upload with another digest leaves the old file", async ({ call, folder, put, names, events }) => {
    await put("a", "old");
    const headers = { "Repr-Digest": digestOf("other") };
    const refused = await call("PUT", `${folder}a`, { headers, body: patternOf(300_000) });
    expect([refused.status, refused.header("error-code")]).toEqual([400, "upload-digest-mismatch"]);
    expect((await call("GET", `${folder}a`)).text).toBe("old");
    expect(await names()).toEqual(["a"]);
    expect(await events([40022], 1)).toHaveLength(1);
  }),
  wireCase("a part of a file and a 304 have the digest of the whole file", async ({ call, folder, put }) => {
    await put("a", "content");
    const head = await call("HEAD", `${folder}a`, { headers: WANTED });
    expect([head.status, head.header("repr-digest")]).toEqual([200, digestOf("content")]);
    const part = await call("GET", `${folder}a`, { headers: { ...WANTED, Range: "bytes=1-3" } });
    expect([part.status, part.text, part.header("repr-digest"), part.header("content-digest")]).toEqual([
      206,
      "ont",
      digestOf("content"),
      null,
    ]);
    const unchanged = { ...WANTED, "If-None-Match": head.header("etag") ?? "" };
    const known = await call("GET", `${folder}a`, { headers: unchanged });
    expect([known.status, known.header("repr-digest")]).toEqual([304, digestOf("content")]);
  }),
];
