import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runInProcess } from "../support/run-in-process.ts";
import { createFake, refusal } from "../support/s3/fake.ts";
import { serveFake } from "../support/s3/served-fake.ts";
import { configure } from "./configure.ts";

const doctor = (config: string) => runInProcess(["doctor", "--config", config]);

describe("fileferry doctor with a bucket", () => {
  beforeEach(() => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "ACCESSKEY");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "SECRETKEY");
  });

  afterEach(() => void vi.unstubAllEnvs());

  const configureBucket = (endpoint: string) =>
    configure({ storage: { type: "s3", bucket: "bucket", endpoint }, offload: { type: "presigned" } });

  it("tries it and its presigned URLs, and leaves nothing there", async () => {
    const { fetch, objects } = createFake();
    const { status, stdout } = await doctor(await configureBucket(await serveFake(fetch)));
    expect(stdout).toMatch(/^ok: storage: writes and flushes in \d+ ms, reads, moves and removes$/m);
    expect(stdout).toMatch(/^ok: storage: has the time of this machine$/m);
    expect(stdout).toMatch(/^ok: offload: the bucket sends files by presigned URLs$/m);
    expect(status).toBe(0);
    expect([...objects.keys()]).toEqual([]);
  });

  it("finds that it refuses presigned URLs", async () => {
    const { fetch, objects } = createFake(({ query }) =>
      query.has("X-Amz-Signature") ? refusal(403, "AccessDenied") : undefined,
    );
    const { status, stdout } = await doctor(await configureBucket(await serveFake(fetch)));
    expect(stdout).toMatch(/^error: offload: a presigned URL is 403: allow the key of the service to read objects$/m);
    expect(stdout).not.toContain("KEY");
    expect(status).toBe(1);
    expect([...objects.keys()]).toEqual([]);
  });

  it("says which permission presigned URLs of versions need", async () => {
    const { fetch } = createFake(({ method, query }, _, serve) => {
      if (query.has("X-Amz-Signature")) return refusal(403, "AccessDenied");
      const found = serve();
      if (method === "HEAD" && found.ok) found.headers.set("x-amz-version-id", "v7");
      return found;
    });
    const { stdout } = await doctor(await configureBucket(await serveFake(fetch)));
    expect(stdout).toMatch(/^error: offload: a presigned URL is 403: allow .* by version \(s3:GetObjectVersion\)$/m);
  });

  it("finds that no presigned URL is made, because the bucket changes entity-tags by itself", async () => {
    const { fetch, objects } = createFake(({ method }, number, serve) => {
      const stored = serve();
      if (method === "HEAD" && stored.ok) stored.headers.set("etag", `"${number}"`);
      return stored;
    });
    const { status, stdout } = await doctor(await configureBucket(await serveFake(fetch)));
    expect(stdout).toMatch(
      /^error: offload: no presigned URL was made for a file that was just written: let the bucket/m,
    );
    expect(stdout).not.toContain("undefined");
    expect(status).toBe(1);
    expect([...objects.keys()]).toEqual([]);
  });

  it.each([
    [60, 0, /^warning: storage: the clock of this machine is (?:59|60) s behind it: let both use NTP$/m],
    [-60, 0, /^warning: storage: the clock of this machine is 6[01] s ahead of it: let both use NTP$/m],
    [1200, 1, /^error: storage: the clock of this machine is (?:1199|1200) s behind it: let both use NTP$/m],
    [-1200, 1, /^error: storage: the clock of this machine is 120[01] s ahead of it: let both use NTP$/m],
  ])("finds that its clock is %i s ahead", async (ahead, expected, line) => {
    const { status, stdout } = await doctor(await configureBucket(await serveFake(createFake().fetch, ahead)));
    expect(stdout).toMatch(line);
    expect(status).toBe(expected);
  });
});

describe("fileferry doctor with a store that does not keep its promises", () => {
  it("finds that two processes can change a value at once, and that its clock is wrong", async () => {
    const url = await startCarelessRedis(3600);
    const { status, stdout } = await doctor(await configure({ storage: { type: "memory" }, session: { store: url } }));
    expect(stdout).toMatch(/^error: session\.store: two processes changed a value of Redis at \S+ at once: /m);
    expect(stdout).toMatch(/^error: session\.store: the clock of this machine is (?:3599|3600) s behind it: let both/m);
    expect(status).toBe(1);
  });
});

/**
 * Starts what speaks as Redis does, but has each script succeed, whatever the value is: so do servers that copy values
 * to others later. Its clock is some seconds ahead.
 */
async function startCarelessRedis(aheadSeconds: number): Promise<string> {
  const values = new Map<string, string>();

  function respond([name = "", key = "", ...others]: readonly string[]): string {
    switch (name.toUpperCase()) {
      case "SET":
        values.set(key, others[0] ?? "");
        return "+OK\r\n";
      case "GET":
        return toBulk(values.get(key));
      case "DEL":
        return `:${Number(values.delete(key))}\r\n`;
      case "EVALSHA": {
        // EVALSHA sha1 1 key expected next milliseconds
        const [, changed = "", , next = ""] = others;
        values.set(changed, next);
        return ":1\r\n";
      }
      case "TIME":
        return `*2\r\n${toBulk(String(Math.floor(Date.now() / 1000) + aheadSeconds))}${toBulk("0")}`;
      default:
        return "+OK\r\n";
    }
  }

  const server = createServer((socket) => {
    let received = "";
    socket.on("error", () => undefined);
    socket.setEncoding("latin1").on("data", (text: string) => {
      received += text;
      for (let command = readCommand(received); command !== undefined; command = readCommand(received)) {
        received = received.slice(command.length);
        socket.write(respond(command.words), "latin1");
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function toBulk(text: string | undefined): string {
  return text === undefined ? "$-1\r\n" : `$${text.length}\r\n${text}\r\n`;
}

/** Reads the first command, an array of texts; `undefined` if it has not arrived completely. */
function readCommand(text: string): { readonly words: readonly string[]; readonly length: number } | undefined {
  const [head, count] = /^\*(\d+)\r\n/.exec(text) ?? [];
  if (head === undefined) return undefined;
  const words: string[] = [];
  let length = head.length;
  while (words.length < Number(count)) {
    const [size, bytes] = /^\$(\d+)\r\n/.exec(text.slice(length)) ?? [];
    const end = length + (size?.length ?? 0) + Number(bytes) + 2;
    if (size === undefined || text.length < end) return undefined;
    words.push(text.slice(length + size.length, end - 2));
    length = end;
  }
  return { words, length };
}
