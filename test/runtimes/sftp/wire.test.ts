import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { StorageAdapter } from "fileferry";
import ssh2, { type SFTPWrapper } from "ssh2";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createRecordingLogger } from "../../support/logger.ts";
import { overrideStorage } from "../../support/storage.ts";
import { ask, findMissingTool } from "./client.ts";
import { createSftpEnvironment, type SftpEnvironment } from "./environment.ts";

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;
const missing = findMissingTool();
const title =
  missing === undefined
    ? "any client of examples/sftp-server.ts"
    : `any client of examples/sftp-server.ts, not run: there is no ${missing} here`;
let environment: SftpEnvironment;

describe.skipIf(missing !== undefined)(title, () => {
  beforeAll(async () => {
    environment = await createSftpEnvironment();
  }, 60_000);

  afterAll(async () => {
    await environment?.close();
  });

  it.each(["a\\b", "a\u0001b", "a\ufffdb", "x".repeat(256)])("is refused the name %j", async (name) => {
    const { sftp } = await environment.raw();
    await expect(ask((done) => sftp.mkdir(`/${name}`, done))).rejects.toMatchObject({ code: STATUS_CODE.FAILURE });
  });

  it("reads any part of a file in any order, of one version of it", async () => {
    const bytes = randomBytes(1024 * 1024);
    await writeFile(join(environment.root, "alice/jump.bin"), bytes);
    const { sftp } = await environment.raw();
    const handle = await ask<Buffer>((done) => sftp.open("/jump.bin", "r", done));
    const read = async (offset: number, length: number) => {
      const buffer = Buffer.alloc(length);
      const got = await new Promise<number>((resolve, reject) => {
        sftp.read(handle, buffer, 0, length, offset, (error, count) => (error ? reject(error) : resolve(count)));
      });
      return buffer.subarray(0, got);
    };
    for (const offset of [900_000, 0, 1000, 500_000, 501_000, 1024 * 1024 - 500]) {
      expect((await read(offset, 1000)).equals(bytes.subarray(offset, offset + 1000))).toBe(true);
    }
    await overwrite(environment.storage, "/alice/jump.bin", "another");
    await expect(read(10, 10)).rejects.toMatchObject({ message: "The file has changed." });
  });

  it("writes whole files only, and another leaves the former", async () => {
    await writeFile(join(environment.root, "alice/whole.txt"), "former");
    const { sftp } = await environment.raw();
    const unsupported = { code: STATUS_CODE.OP_UNSUPPORTED };
    const open = (flags: number) => ask<Buffer>((done) => sftp.open("/whole.txt", flags, done));
    const write = (handle: Buffer, text: string, offset: number) =>
      ask((done) => sftp.write(handle, Buffer.from(text), 0, text.length, offset, done));
    await expect(open(OPEN_MODE.WRITE | OPEN_MODE.READ | OPEN_MODE.TRUNC)).rejects.toMatchObject(unsupported);
    await expect(open(OPEN_MODE.WRITE | OPEN_MODE.APPEND)).rejects.toMatchObject(unsupported);
    await expect(open(OPEN_MODE.WRITE | OPEN_MODE.CREAT | OPEN_MODE.EXCL)).rejects.toMatchObject({ code: 4 });
    for (const [offset, refusal] of [
      [1, unsupported],
      [4, unsupported],
      [6, undefined], // may be a little ahead, but what is missing does not come
    ] as const) {
      const handle = await open(OPEN_MODE.WRITE | OPEN_MODE.CREAT | OPEN_MODE.TRUNC);
      await write(handle, "begun", 0);
      if (refusal === undefined) await write(handle, "later", offset);
      else await expect(write(handle, "later", offset)).rejects.toMatchObject(refusal);
      await expect(ask((done) => sftp.close(handle, done))).rejects.toMatchObject({ code: STATUS_CODE.FAILURE });
    }
    expect(await readFile(join(environment.root, "alice/whole.txt"), "utf8")).toBe("former");
    expect(await environment.stored()).toContain("whole.txt");
  });

  it("may leave the former file uncut when nothing of it would be left", async () => {
    const { sftp } = await environment.raw();
    const put = async (text: string, size?: number) => {
      await writeFile(join(environment.root, "alice/uncut.txt"), "former");
      const handle = await ask<Buffer>((done) => sftp.open("/uncut.txt", OPEN_MODE.WRITE, done));
      await ask((done) => sftp.write(handle, Buffer.from(text), 0, text.length, 0, done));
      const sized = size === undefined ? undefined : ask((done) => sftp.fsetstat(handle, { size }, done));
      const outcomes = await Promise.allSettled([sized, ask((done) => sftp.close(handle, done))]);
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
      return readFile(join(environment.root, "alice/uncut.txt"), "utf8");
    };
    expect(await put("longer one")).toBe("longer one");
    expect(await put("new", 3)).toBe("new");
    await expect(put("new")).rejects.toMatchObject({ code: STATUS_CODE.FAILURE });
    await expect(put("new", 2)).rejects.toMatchObject({ code: STATUS_CODE.OP_UNSUPPORTED });
    expect(await readFile(join(environment.root, "alice/uncut.txt"), "utf8")).toBe("former");
  });

  it("may not be further ahead than a few requests", async () => {
    const { sftp } = await environment.raw();
    const handle = await ask<Buffer>((done) => sftp.open("/ahead.txt", "w", done));
    const bytes = Buffer.alloc(16 * 1024);
    const writes = Array.from({ length: 200 }, (_, index) =>
      ask((done) => sftp.write(handle, bytes, 0, bytes.length, (index + 1) * bytes.length, done)),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(128);
    expect(outcomes[128]).toMatchObject({ reason: { code: STATUS_CODE.OP_UNSUPPORTED } });
    await expect(ask((done) => sftp.close(handle, done))).rejects.toMatchObject({ code: STATUS_CODE.FAILURE });
  });

  it("may be ahead as far with all its uploads as with one: memory does not grow with the open files", async () => {
    const { sftp } = await environment.raw();
    const bytes = Buffer.alloc(16 * 1024);
    const handles: Buffer[] = [];
    for (const name of ["/first.txt", "/second.txt"]) handles.push(await ask((done) => sftp.open(name, "w", done)));
    const writes = handles.flatMap((handle) =>
      Array.from({ length: 80 }, (_, index) =>
        ask((done) => sftp.write(handle, bytes, 0, bytes.length, (index + 1) * bytes.length, done)),
      ),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(128);
  });

  it("has a bounded number of files open on one connection, whatever its sessions", async () => {
    const first = await environment.raw();
    const second = await new Promise<SFTPWrapper>((resolve, reject) =>
      first.client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))),
    );
    const opened = await Promise.allSettled(
      Array.from({ length: 140 }, (_, index) =>
        ask<Buffer>((done) => (index % 2 === 0 ? first.sftp : second).opendir("/", done)),
      ),
    );
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(128);
    const [open] = opened;
    if (open?.status === "fulfilled") await ask((done) => first.sftp.close(open.value, done));
    await ask<Buffer>((done) => second.opendir("/", done));
  });

  it("has a bounded number of connections of one account: further ones are ended", async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => environment.raw()));
    const refused = outcomes.filter(({ status }) => status === "rejected");
    // Those of the tests before may not have left yet.
    expect(refused.length).toBeGreaterThanOrEqual(2);
    expect(refused.length).toBeLessThan(12);
    expect(refused[0]).toMatchObject({ reason: { message: expect.stringMatching(/ended|ECONNRESET/) } });
  });

  it("may have several requests under way, a little out of order", async () => {
    const bytes = randomBytes(3_000_001);
    await writeFile(join(environment.local, "quick.bin"), bytes);
    const { sftp } = await environment.raw();
    await ask((done) => sftp.fastPut(join(environment.local, "quick.bin"), "/quick.bin", {}, done));
    expect(digest(await readFile(join(environment.root, "alice/quick.bin")))).toBe(digest(bytes));
    await ask((done) => sftp.fastGet("/quick.bin", join(environment.local, "quick-back.bin"), {}, done));
    expect(digest(await readFile(join(environment.local, "quick-back.bin")))).toBe(digest(bytes));
  });

  it("may send and ask faster than the storage is", async () => {
    const slow = overrideStorage(environment.storage, {
      write: (path, content, own) => environment.storage.write(path, slowed(content), own),
    });
    const { client, sftp } = await environment.raw(await environment.startAnother({ storage: slow }));
    const bytes = randomBytes(12 * 1024 * 1024);
    const size = 16 * 1024;
    const offsets = Array.from({ length: bytes.length / size }, (_, index) => index * size);
    const handle = await ask<Buffer>((done) => sftp.open("/fast.bin", "w", done));
    await Promise.all(offsets.map((at) => ask((done) => sftp.write(handle, bytes, at, size, at, done))));
    await ask((done) => sftp.close(handle, done));
    const again = await ask<Buffer>((done) => sftp.open("/fast.bin", "r", done));
    const back = Buffer.alloc(bytes.length);
    await Promise.all(offsets.map((at) => ask((done) => sftp.read(again, back, at, size, at, done))));
    expect(digest(back)).toBe(digest(bytes));
    client.end();
  });

  it("is cut off when it asks without end and takes no answer", async () => {
    await writeFile(join(environment.root, "alice/flood.bin"), Buffer.alloc(32 * 1024));
    const { client, sftp } = await environment.raw();
    const closed = new Promise<void>((resolve) => client.on("close", () => resolve()));
    client.on("error", () => undefined);
    const handle = await ask<Buffer>((done) => sftp.open("/flood.bin", "r", done));
    const { _sock: socket } = client as unknown as { readonly _sock: Socket };
    socket.pause();
    const buffer = Buffer.alloc(31_000);
    for (let requests = 0; requests < 10_000; requests++) sftp.read(handle, buffer, 0, 31_000, 0, () => undefined);
    // Only a socket that is read hears of its end: by then nothing more has come than was under way.
    await vi.waitFor(() => expect(socket.writableLength).toBe(0), { timeout: 10_000 });
    socket.resume();
    await closed;
    expect((await environment.run("pwd")).status).toBe(0);
  });

  it("may break off or talk nonsense without harm to others", async () => {
    for (const nonsense of ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n".padEnd(5000, "\u00ff"), ""]) {
      const socket = connect(environment.access.port, "127.0.0.1").on("error", () => undefined);
      await once(socket, "connect");
      socket.write(nonsense);
      socket.resetAndDestroy();
    }
    const before = await environment.stored();
    const { client, sftp } = await environment.raw();
    await ask((done) => sftp.open("/gone.txt", "w", done));
    client.destroy();
    expect((await environment.run("pwd")).status).toBe(0);
    await vi.waitFor(async () => expect(await environment.stored()).toEqual(before), { timeout: 10_000 });
  });

  it("learns nothing of the machine when the storage fails, but the log does", async () => {
    const broken = overrideStorage(environment.storage, {
      stat: async (path) => {
        if (path.endsWith("/broken")) throw new Error(`EIO: ${environment.root}`);
        return environment.storage.stat(path);
      },
    });
    const logger = createRecordingLogger();
    const { sftp } = await environment.raw(await environment.startAnother({ storage: broken, logger }));
    await expect(ask((done) => sftp.stat("/broken", done))).rejects.toMatchObject({ message: "Internal error" });
    expect(logger.text()).toContain("EIO");
  });
});

async function* slowed(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let chunks = 0;
  for await (const chunk of content) {
    chunks += 1;
    if (chunks % 16 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    yield chunk;
  }
}

async function overwrite(storage: StorageAdapter, path: string, text: string): Promise<void> {
  await storage.write(
    path,
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
