import { createReadStream, openAsBlob } from "node:fs";
import { Upload } from "tus-js-client";
import { beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../../src/client.ts";
import { type CommandRun, ensureBuilt, makeFolder, startServer } from "../../support/built.ts";
import { CUTS, FILE_BYTES, openBrokenLink } from "../../support/links/broken-link.ts";
import { AUTHORIZATION } from "../../support/served.ts";
import { uploadByDraft } from "./draft-client.ts";

beforeAll(ensureBuilt, 300_000);

type Running = CommandRun & { readonly port: number };

/** Starts a process of the command over a folder. */
async function start(root: string): Promise<Running> {
  const run = await startServer(["serve", root, "--account", "alice:secret", "--port", "0"]);
  return { ...run, port: Number(new URL(run.url).port) };
}

/** A link to two processes over one folder: each connection goes to the other one. */
async function openLinkInTurn() {
  const root = await makeFolder();
  const ports = [(await start(root)).port, (await start(root)).port] as const;
  let connections = 0;
  return openBrokenLink({ root, next: () => ports[connections++ % 2] ?? 0 });
}

describe("two processes of the command over one folder, in turn for each connection", () => {
  it("take an upload of a client of the draft", async () => {
    const link = await openLinkInTurn();
    const upload = await uploadByDraft({
      url: `${link.proxy.origin}/home/content.bin`,
      ...{ file: link.file, size: FILE_BYTES, authorization: AUTHORIZATION },
    });
    expect(upload).toMatchObject({ status: 201 });
    // An append that the other process takes over from may have stored nothing: it is resumed at the same offset again.
    expect(upload.offsets.length).toBeGreaterThanOrEqual(CUTS);
    expect(upload.offsets.toSorted((one, other) => one - other)).toEqual(upload.offsets);
    expect(upload.offsets.at(-1)).toBeGreaterThan(0);
    await link.expectArrived("content.bin", "a client of the draft, from two processes in turn");
  });

  it("take an upload of tus-js-client in parts", async () => {
    const link = await openLinkInTurn();
    await new Promise<void>((resolve, reject) => {
      const upload = new Upload(createReadStream(link.file), {
        endpoint: `${link.proxy.origin}/home/`,
        headers: { Authorization: AUTHORIZATION },
        metadata: { filename: "content.bin" },
        chunkSize: Math.ceil(FILE_BYTES / CUTS / 3),
        retryDelays: [0, 100, 200, 400],
        onError: reject,
        onSuccess: () => resolve(),
      });
      upload.start();
    });
    await link.expectArrived("content.bin", "tus-js-client, from two processes in turn");
  });
});

describe("a process of the command that is killed in the middle of an upload", () => {
  it("is replaced by another one, and the client continues", async () => {
    const root = await makeFolder();
    let running = await start(root);
    const link = await openBrokenLink({ root, next: () => running.port });
    const client = createClient({ baseUrl: link.proxy.origin, credentials: { username: "alice", password: "secret" } });
    let isReplaced = false;
    async function replace(): Promise<void> {
      isReplaced = true;
      running.child.kill("SIGKILL");
      await running.ended;
      running = await start(root);
    }
    let replaced: Promise<void> | undefined;
    await client.put("/content.bin", await openAsBlob(link.file), {
      resumable: true,
      onProgress(sent) {
        if (sent > FILE_BYTES / 2 && !isReplaced) replaced = replace();
      },
    });
    await replaced;
    expect(isReplaced).toBe(true);
    await link.expectArrived("content.bin", "fileferry/client, with a process killed in the middle");
  });
});
