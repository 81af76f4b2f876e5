/*
 * A program with `fileferry/client`, which `client.test.ts` bundles with the built package and runs on each runtime. It
 * prints what it sees as JSON.
 */
import { createClient, FileferryError, type SavedUpload } from "fileferry/client";

const client = createClient({
  baseUrl: process.env.SERVICE ?? "",
  credentials: { username: "alice", password: "secret" },
  metadataHeader: "X-Labels",
});
const seen: unknown[] = [];
const name = "100 %#? grün ☃";
const path = `/folder/${name}`;

async function expectFailure(promise: Promise<unknown>): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof FileferryError) seen.push([error.status, error.code, error.message]);
  else seen.push(error instanceof Error ? error.name : String(error));
}

function toStream(parts: readonly string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const left = parts.map((part) => new TextEncoder().encode(part));
  return new ReadableStream({
    pull(controller) {
      const part = left.shift();
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}

await client.createFolder("/folder");
await expectFailure(client.createFolder("/folder"));

const progress: number[] = [];
await client.put(path, new Uint8Array(1_000_000), { onProgress: (sent) => progress.push(sent) });
seen.push({
  steps: progress.length > 5,
  isOrdered: progress.every((sent, index) => sent >= (progress[index - 1] ?? 0)),
});
seen.push(progress.at(-1));
const { size, etag } = await client.stat(path);
seen.push({ size });
await expectFailure(client.put(path, "x", { ifNoneMatch: "*" }));
seen.push((await client.get(path, { ifNoneMatch: etag })).status);
const part = await client.get(path, { range: { start: 1, end: 3 } });
seen.push([part.status, (await part.arrayBuffer()).byteLength]);

const calls: unknown[] = [];
await client.put("/streamed", toStream(["abc", "de"]), { onProgress: (...call) => calls.push(call) });
seen.push(calls);
await client.put("/streamed", toStream(["abc", "def"]), { metadata: { note: ["grün ☃", 'a, "b"'] } });
seen.push(await (await client.get("/streamed")).text());
await client.put("/empty", "", { onProgress: (...call) => seen.push(call) });
await client.put("/empty", toStream([]));
seen.push((await client.stat("/empty")).size);

const large = new Uint8Array(9_000_000).fill(120);
const steps: unknown[] = [];
await client.put("/resumable", large, { onProgress: (...call) => steps.push(call) });
seen.push([steps.at(-1), (await client.stat("/resumable")).size]);
const saved: SavedUpload[] = [];
const broken = (offset: number) => (saved.length === 1 ? toStream(["part"]) : new Blob([large.slice(offset)]).stream());
const options = { size: 9, keep: true, onSaved: (state: SavedUpload) => saved.push(state) };
await expectFailure(client.put("/resumable", broken, options));
if (saved[0] !== undefined) await client.resume(saved[0], "012345678");
seen.push((await client.stat("/resumable")).size);
await client.remove("/resumable");

const aborting = new AbortController();
const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
  async pull(controller) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    controller.enqueue(new Uint8Array(65_536));
    if (progress.push(0) % 20 === 0) aborting.abort();
  },
  cancel: () => void seen.push("cancelled"),
});
await expectFailure(client.put("/streamed", endless, { signal: aborting.signal }));
seen.push((await client.stat("/streamed")).size);

for await (const entry of client.list("/")) seen.push([entry.name, entry.is_directory]);
seen.push((await client.stat("/folder")).is_directory);
await expectFailure(client.get("/folder"));
const archive = await client.archive("/folder", { members: [name] });
seen.push([archive.headers.get("content-type"), (await archive.arrayBuffer()).byteLength > 1_000_000]);
seen.push(await client.run("/", [{ command: "delete", target: "empty" }]));
await client.remove("/folder");
await expectFailure(client.stat("/folder"));
await expectFailure(
  createClient({ baseUrl: "http://127.0.0.1:1", credentials: "cookie" })
    .whoami()
    .catch((error) => Promise.reject([error instanceof FileferryError, error.cause instanceof Error])),
);
process.stdout.write(JSON.stringify(seen));
