import { once } from "node:events";
import { readdir, readlink, truncate, writeFile } from "node:fs/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect } from "vitest";
import type { FrameworkClient } from "./client.ts";

/*
 * Downloads from a mounted service that one side breaks off.
 */

/** More than sockets hold. It is a hole, which costs nothing to write. */
const SIZE = 64 * 1024 * 1024;

interface Download {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** Begins a download of a large file, and reads no further than its first bytes. */
async function startDownload({ host, session }: FrameworkClient, name: string): Promise<Download> {
  await writeFile(join(host.root, name), "");
  await truncate(join(host.root, name), SIZE);
  const request = httpRequest(`${host.origin}/files/home/${name}`, {
    headers: { authorization: `session ${session}` },
  });
  // A request that the test destroys fails.
  request.on("error", () => undefined).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  await once(response, "data");
  response.pause();
  return { request, response };
}

/** The files that the host has open in its folder, according to Linux. */
async function openFiles({ host: { pid, root } }: FrameworkClient): Promise<readonly string[]> {
  const folder = `/proc/${pid}/fd`;
  const targets = await Promise.all((await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => "")));
  return targets.filter((target) => target.startsWith(root));
}

export async function shortenedFiles(client: FrameworkClient): Promise<void> {
  const { request, response } = await startDownload(client, "shortened");
  await truncate(join(client.host.root, "shortened"), 1_000_000);
  let length = 0;
  response.on("data", (chunk: Buffer) => {
    length += chunk.byteLength;
  });
  const ending = Promise.race([
    once(response, "end").then(() => "complete"),
    once(response, "close").then(() => "broken off"),
    new Promise((resolve) => setTimeout(resolve, 3000, "never over").unref()),
  ]).catch(() => "broken off");
  response.resume();
  const end = await ending;
  request.destroy();
  expect([end, length < SIZE]).toEqual(["broken off", true]);
  // It serves others as before.
  const answer = await client.call("GET", "/files/home/shortened", { headers: { range: "bytes=0-0" } });
  expect(answer.status).toBe(206);
}

export async function leftDownloads(client: FrameworkClient): Promise<void> {
  const { request } = await startDownload(client, "left");
  expect(await openFiles(client)).toEqual([expect.stringMatching(/left$/)]);
  request.destroy();
  await expect.poll(() => openFiles(client), { timeout: 5000 }).toEqual([]);
}
