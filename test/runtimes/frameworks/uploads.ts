import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { cutUpload, expectContinue, type FrameworkClient } from "./client.ts";

/*
 * Uploads to a mounted service: whole ones, refused ones and cut ones.
 */

/** Half a body at a time, of no announced length. */
function chunked(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset === bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(offset, offset + 65_536));
      offset = Math.min(offset + 65_536, bytes.byteLength);
    },
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export async function largeFiles({ call, host }: FrameworkClient): Promise<void> {
  const bytes = randomBytes(5 * 1024 * 1024 + 7);
  for (const [name, body] of [
    ["streamed.bin", chunked(bytes)],
    ["whole.bin", bytes as BodyInit],
  ] as const) {
    expect((await call("PUT", `/files/home/${name}`, { body })).status).toBe(201);
    expect(sha256(await readFile(join(host.root, name)))).toBe(sha256(bytes));
    const back = await call("GET", `/files/home/${name}`);
    expect([back.headers.get("content-length"), sha256(back.bytes)]).toEqual([`${bytes.byteLength}`, sha256(bytes)]);
  }
}

export async function parsableContent({ call, host }: FrameworkClient): Promise<void> {
  for (const [type, body] of [
    ["application/json", '{ "a" :  1 }\n'],
    ["application/json", "{not JSON"],
    ["application/x-www-form-urlencoded", "a=1&b=%20"],
    ["text/plain", "text"],
    ["application/x-unheard-of", "\u0000\u0001"],
    ["multipart/form-data; boundary=b", "no form"],
  ] as const) {
    expect((await call("PUT", "/files/home/typed", { headers: { "content-type": type }, body })).status).toBe(201);
    expect(await readFile(join(host.root, "typed"), "utf8")).toBe(body);
  }
}

export async function withheldBodies({ host, session }: FrameworkClient): Promise<void> {
  const credentials = { authorization: `session ${session}` };
  const refused = await expectContinue(host, "PUT", "/files/home/no/parent", credentials, "x");
  expect(refused).toEqual({ isContinued: false, status: 409 });
}

export async function awaitedBodies({ host, session }: FrameworkClient): Promise<void> {
  const credentials = { authorization: `session ${session}` };
  const taken = await expectContinue(host, "PUT", "/files/home/awaited", credentials, "awaited");
  expect(taken).toEqual({ isContinued: true, status: 201 });
}

export async function cutUploads(client: FrameworkClient): Promise<void> {
  const { root } = client.host;
  await writeFile(join(root, "former"), "former");
  const before = (await readdir(root)).sort();
  await cutUpload(client, "/files/home/former");
  await cutUpload(client, "/files/home/never");
  let now = await readdir(root);
  for (let tries = 0; tries < 20 && now.length !== before.length; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    now = await readdir(root);
  }
  expect(now.sort()).toEqual(before);
  expect(await readFile(join(root, "former"), "utf8")).toBe("former");
}

export async function unread({ call, host }: FrameworkClient): Promise<void> {
  const body = chunked(new Uint8Array(20 * 1024 * 1024));
  const refused = await call("PUT", "/files/home/no/parent", { body }).catch(() => undefined);
  // A client that is at its body when the answer comes may miss it.
  expect([409, undefined]).toContain(refused?.status);
  expect(await readdir(host.root)).not.toContain("no");
  expect((await call("GET", "/files/home/", { headers: { accept: "application/json" } })).status).toBe(200);
}
