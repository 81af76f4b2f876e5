import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { type ClamdOptions, createClamdGuard } from "../../../src/uploads/clamd-guard-node.ts";
import { streamOf } from "../../support/bodies.ts";
import { createTestService } from "../../support/service.ts";

/** A clamd that does what a test wants. `serve` gets each connection. */
async function startFake(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    serve(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { clamd: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** Reads the command and the parts of a file. Calls `onEnd` with the content after the part without bytes. */
function readFileOf(socket: Socket, onEnd: (content: Buffer) => void): void {
  let received = Buffer.alloc(0);
  socket.on("data", (data) => {
    received = Buffer.concat([received, data]);
    const command = "zINSTREAM\0";
    if (received.byteLength < command.length) return;
    expect(received.toString("latin1", 0, command.length)).toBe(command);
    const parts: Buffer[] = [];
    for (let at = command.length; at + 4 <= received.byteLength; ) {
      const length = received.readUInt32BE(at);
      if (length === 0) return onEnd(Buffer.concat(parts));
      if (at + 4 + length > received.byteLength) return;
      parts.push(received.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
  });
}

/** A clamd that answers a text after the end of a file. */
function answering(text: string | Buffer, isClosing = true) {
  return startFake((socket) => readFileOf(socket, () => (isClosing ? socket.end(text) : socket.write(text))));
}

async function createScanned(clamd: string, options: Partial<ClamdOptions> = {}) {
  const events: FileEvent[] = [];
  const test = await createTestService({
    beforeCommit: createClamdGuard({ clamd, timeoutSeconds: 0.3, ...options }),
    onEvent: (event) => events.push(event),
    files: { "/alice/a.txt": "old" },
  });
  async function put(body: string | ReadableStream<Uint8Array> = "new", signal?: AbortSignal) {
    const answer = await test.call("PUT", "/home/a.txt", { body, variant: "json", ...(signal && { signal }) });
    const [{ message = "" } = {}] = answer.status < 400 ? [] : answer.json<{ errors: { message: string }[] }>().errors;
    return [answer.status, answer.header("error-code"), message] as const;
  }
  return { ...test, put, last: () => events.findLast(({ id }) => id === 40017 || id === 40022) };
}

const UNAVAILABLE = [503, "scan-unavailable", "The file cannot be scanned for viruses at the moment."] as const;
const BIG = () => streamOf(...Array.from({ length: 64 }, () => "x".repeat(100_000)));

describe("a scan by clamd", () => {
  it("gets the file in parts, and its answer decides", async () => {
    const seen: string[] = [];
    const { clamd } = await startFake((socket) =>
      readFileOf(socket, (content) => {
        seen.push(content.toString());
        socket.end("stream: OK\0");
      }),
    );
    const { put, stored, last } = await createScanned(clamd);
    const [one, other] = ["a".repeat(100_000), "b".repeat(100_000)];
    expect(await put(streamOf(one, other))).toEqual([201, null, ""]);
    expect(seen).toEqual([one + other]);
    expect(await stored("/alice/a.txt")).toBe(one + other);
    expect(last()).toMatchObject({ id: 40017, data: { scan: "clean" } });
  });

  it.each([
    ["Win.Test.EICAR_HDB-1", "Win.Test.EICAR_HDB-1"],
    ["A name (with: blanks)", "A name (with: blanks)"],
    ["x".repeat(100), "x".repeat(100)],
    ["x".repeat(101), "unknown"],
    ["Fünf", "unknown"],
    ["a\r\nSet-Cookie: b", "unknown"],
    ["OK", "OK"],
    ["stream: OK", "stream: OK"],
  ])("refuses a virus by its name: %j", async (name, shown) => {
    const { clamd } = await answering(Buffer.from(`stream: ${name} FOUND\0`));
    const { put, stored, last } = await createScanned(clamd, { onUnavailable: "pass", onTooLarge: "pass" });
    expect(await put()).toEqual([422, "upload-infected", `The file has a virus: ${shown}.`]);
    expect(await stored("/alice/a.txt")).toBe("old");
    expect(last()).toMatchObject({ id: 40022 });
    expect(last()?.data).not.toHaveProperty("scan");
  });

  it.each([
    "",
    "\0",
    "stream: OK",
    "stream: OK\n\0",
    "stream: O\0",
    "stream: \0",
    "stream:  FOUND",
    "stream: A FOUND",
    "OK\0",
    "stream: OK\0stream: A FOUND\0",
    "stream: OK\0\0",
    "STREAM: OK\0",
    "stream: Can't allocate memory ERROR\0",
    "UNKNOWN COMMAND\0",
    "HTTP/1.1 200 OK\r\n\r\n",
    `stream: ${"x".repeat(10_000)}`,
    "INSTREAM size limit exceeded. ERROR",
  ])("takes no other answer for a clean file: %j", async (text) => {
    const { clamd } = await answering(text);
    const { put, stored, log } = await createScanned(clamd);
    expect(await put()).toEqual(UNAVAILABLE);
    expect(await stored("/alice/a.txt")).toBe("old");
    expect(log.text()).toContain("clamd");
  });

  it("takes an answer that is cut into pieces", async () => {
    const { clamd } = await startFake((socket) =>
      readFileOf(socket, async () => {
        for (const byte of "stream: OK\0") {
          socket.write(byte);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      }),
    );
    const { put } = await createScanned(clamd);
    expect(await put()).toEqual([201, null, ""]);
  });

  it("says when to try again", async () => {
    const { clamd } = await answering("");
    const { call } = await createScanned(clamd);
    expect((await call("PUT", "/home/a.txt", { body: "new" })).header("retry-after")).toBe("10");
  });

  it.each<[string, (socket: Socket) => void]>([
    ["closes each connection", (socket) => socket.destroy()],
    ["ends each connection", (socket) => socket.end()],
    ["breaks off after the command", (socket) => socket.once("data", () => socket.resetAndDestroy())],
    ["reads nothing", (socket) => socket.pause()],
    ["never answers", (socket) => socket.resume()],
    ["begins an answer and hangs", (socket) => readFileOf(socket, () => socket.write("stream: O"))],
    ["says OK at once, and reads on", (socket) => socket.resume().write("stream: OK\0")],
    ["says OK at once, and leaves", (socket) => socket.resume().end("stream: OK\0")],
    ["talks without end", (socket) => socket.resume().write("x".repeat(1_000_000))],
  ])("is unavailable where clamd %s", async (_, serve) => {
    const { clamd } = await startFake(serve);
    const strict = await createScanned(clamd);
    expect(await strict.put(BIG())).toEqual(UNAVAILABLE);
    expect(await strict.stored("/alice/a.txt")).toBe("old");
    const lax = await createScanned(clamd, { onUnavailable: "pass" });
    expect(await lax.put(BIG())).toEqual([201, null, ""]);
    expect((await lax.stored("/alice/a.txt"))?.length).toBe(6_400_000);
    expect(lax.last()).toMatchObject({ id: 40017, data: { scan: "unavailable" } });
  });

  it("is unavailable where nothing listens", async () => {
    for (const clamd of ["127.0.0.1:1", "/nowhere/clamd.ctl"]) {
      const { put } = await createScanned(clamd);
      expect(await put()).toEqual(UNAVAILABLE);
      expect(await put("")).toEqual(UNAVAILABLE);
    }
  });

  it("refuses a virus that is found before the end", async () => {
    const { clamd } = await startFake((socket) => socket.once("data", () => socket.write("stream: Early FOUND\0")));
    const { put } = await createScanned(clamd, { onUnavailable: "pass" });
    expect(await put(BIG())).toEqual([422, "upload-infected", "The file has a virus: Early."]);
  });

  it.each([
    ["goes on reading", (socket: Socket) => void socket.resume().write("INSTREAM size limit exceeded. ERROR\0")],
    ["leaves", (socket: Socket) => void socket.end("INSTREAM size limit exceeded. ERROR\0")],
  ])("knows that a file is too large for clamd, which %s", async (_, answer) => {
    const { clamd } = await startFake((socket) => socket.once("data", () => answer(socket)));
    const strict = await createScanned(clamd);
    const refused = [413, "scan-too-large", "The file is too large to be scanned for viruses."];
    expect(await strict.put(BIG())).toEqual(refused);
    const lax = await createScanned(clamd, { onTooLarge: "pass" });
    expect(await lax.put(BIG())).toEqual([201, null, ""]);
    expect(lax.last()).toMatchObject({ data: { scan: "skipped" } });
  });

  it("sends clamd no more than the limit, and leaves", async () => {
    const { clamd, sockets } = await startFake((socket) => socket.resume());
    const { put, last } = await createScanned(clamd, { maxBytes: 150_000, onTooLarge: "pass" });
    expect(await put(BIG())).toEqual([201, null, ""]);
    expect(last()).toMatchObject({ data: { scan: "skipped" } });
    await expect.poll(() => sockets.size).toBe(0);
  });

  it("leaves clamd where the client does, or the upload fails", async () => {
    const { clamd, sockets } = await startFake((socket) => socket.resume());
    const { put, stored } = await createScanned(clamd, { timeoutSeconds: 60 });
    const client = new AbortController();
    const running = put(BIG(), client.signal).catch(() => undefined);
    await expect.poll(() => sockets.size).toBe(1);
    client.abort();
    await running;
    await expect.poll(() => sockets.size).toBe(0);
    expect(await stored("/alice/a.txt")).toBe("old");
  });

  it("does not count the time that a slow client takes", async () => {
    const { clamd } = await answering("stream: OK\0");
    const { put } = await createScanned(clamd, { timeoutSeconds: 0.2 });
    async function* slow(): AsyncGenerator<Uint8Array> {
      for (const part of ["a", "b"]) {
        yield new TextEncoder().encode(part.repeat(100_000));
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    }
    const iterator = slow();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    expect(await put(body)).toEqual([201, null, ""]);
  });
});

describe("the options of createClamdGuard", () => {
  it.each([
    [{}, "clamd"],
    [{ clamd: "" }, "clamd"],
    [{ clamd: "localhost" }, "clamd"],
    [{ clamd: "localhost:0" }, "clamd"],
    [{ clamd: "localhost:99999" }, "clamd"],
    [{ clamd: "http://localhost:3310" }, "clamd"],
    [{ clamd: "clamd.ctl" }, "clamd"],
    [{ clamd: 3310 }, "clamd"],
    [{ clamd: "localhost:3310", maxBytes: 0 }, "maxBytes"],
    [{ clamd: "localhost:3310", onTooLarge: "ignore" }, "onTooLarge"],
    [{ clamd: "localhost:3310", onUnavailable: true }, "onUnavailable"],
    [{ clamd: "localhost:3310", timeoutSeconds: 0 }, "timeoutSeconds"],
    [{ clamd: "localhost:3310", timeoutSeconds: 3601 }, "timeoutSeconds"],
    [{ clamd: "localhost:3310", max: 1 }, "max"],
    [undefined, "options"],
  ])("are checked: %j", (options, name) => {
    expect(() => createClamdGuard(options as unknown as ClamdOptions)).toThrow(name);
  });

  it.each(["localhost:3310", "[::1]:3310", "10.0.0.1:3310", "clam.example:3310", "/run/clamav/clamd.ctl"])(
    "may name %s",
    (clamd) => {
      expect(createClamdGuard({ clamd }).timeoutSeconds).toBe(70);
    },
  );
});
