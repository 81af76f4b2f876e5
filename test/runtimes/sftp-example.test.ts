import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AccountSettings,
  type Credentials,
  createAccountsAuthenticator,
  createFileService,
  createHttpAuthenticator,
  type FileService,
  type StorageAdapter,
} from "fileferry";
import { createDiskStorage } from "fileferry/storage/disk";
import ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createSftpServer, type SftpServer, type SftpServerOptions } from "../../examples/sftp-server.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { overrideStorage } from "../support/storage.ts";
import {
  type Access,
  ask,
  connectRaw,
  findMissingTool,
  type KeyFile,
  makeKey,
  type RawClient,
  runSftp,
  type SftpRun,
  startSftp,
} from "./sftp-client.ts";

const missing = findMissingTool();
const title = missing === undefined ? "examples/sftp-server.ts" : `examples/sftp-server.ts, without ${missing} here`;
const COMPONENT = "dff314a6-c594-48dc-8e34-5270fd6cb635";
const SERVER = "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902";
const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

/** Alice's, whoever vouches for her. */
const SETTINGS: AccountSettings = {
  home_folder_path: "/alice",
  virtual_folders: [["/common", "/shared"]],
  permissions: [
    ["allow-full-control"],
    ["/readonly*", "allow-read", "allow-list"],
    ["/drop/*", "allow-write"],
    ["/drop", "allow-create-folder"],
  ],
};

let root: string;
let local: string;
let storage: StorageAdapter;
let endpoint: Server;
let key: KeyFile;
let stranger: KeyFile;
let server: SftpServer;
let http: FileService;
let access: Access;
const asked: Credentials[] = [];
const log = createRecordingLogger();

function options(own: Partial<SftpServerOptions> = {}): SftpServerOptions {
  const { port } = endpoint.address() as AddressInfo;
  return {
    storage,
    uuid: COMPONENT,
    authentication: [
      createAccountsAuthenticator({
        accounts: [{ username: "bob", password: "hunter2", ...SETTINGS }],
        logger: createRecordingLogger(),
      }),
      createHttpAuthenticator({
        url: `http://127.0.0.1:${port}/auth`,
        server: { uuid: SERVER },
        creator: { uuid: COMPONENT, type: "ssh" },
        testAtStart: false,
        logger: log,
      }),
    ],
    hostKeys: [ssh2.utils.generateKeyPairSync("ed25519").private],
    logger: log,
    ...own,
  };
}

async function startAnother(own: Partial<SftpServerOptions>): Promise<number> {
  const another = createSftpServer(options(own));
  onTestFinished(() => another.close());
  return another.listen(0);
}

function run(...commands: string[]): Promise<SftpRun> {
  return runSftp(local, access, commands);
}

async function raw(port = access.port): Promise<RawClient> {
  const connected = await connectRaw({ port, username: "bob", password: "hunter2" });
  onTestFinished(() => void connected.client.end());
  return connected;
}

/** What the HTTP service answers Alice about a path. */
async function overHttp(path: string, method = "GET"): Promise<{ status: number; text: string; serverPath: string }> {
  const url = `http://files.example/home${path.split("/").map(encodeURIComponent).join("/")}`;
  const headers = { authorization: `Basic ${btoa("alice:secret")}`, accept: "application/json" };
  const response = await http.fetch(new Request(url, { method, headers }));
  const serverPath = decodeURIComponent(response.headers.get("server-path") ?? "");
  return { status: response.status, text: await response.text(), serverPath };
}

/** The names in Alice's storage folder, temporary files of uploads included. */
async function stored(folder = "alice"): Promise<string[]> {
  return (await readdir(join(root, folder))).sort();
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe.skipIf(missing !== undefined)(title, () => {
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry-sftp-root-"));
    local = await mkdtemp(join(tmpdir(), "fileferry-sftp-local-"));
    for (const folder of ["alice/readonly", "alice/drop", "shared"])
      await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, "alice/readonly/r.txt"), "read me");
    storage = createDiskStorage({ root });
    key = makeKey(join(local, "alice_key"));
    stranger = makeKey(join(local, "stranger_key"));

    endpoint = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const { credentials } = JSON.parse(body);
      asked.push(credentials);
      const { type, username, content } = credentials;
      if (type === "ssh-key" && username === "alice" && content === key.publicKey) {
        response.setHeader("Content-Type", "application/json; charset=utf-8");
        response.end(JSON.stringify({ account: SETTINGS }));
      } else {
        response.writeHead(401).end();
      }
    });
    await once(endpoint.listen(0, "127.0.0.1"), "listening");

    server = createSftpServer(options());
    access = { port: await server.listen(0), username: "alice", keys: [key.path] };
    const accounts = [{ username: "alice", password: "secret", ...SETTINGS }];
    const quiet = createRecordingLogger();
    http = createFileService({ storage, authentication: createAccountsAuthenticator({ accounts, logger: quiet }) });
  }, 60_000);

  afterAll(async () => {
    await server?.close();
    endpoint?.close();
    await rm(root, { recursive: true, force: true });
    await rm(local, { recursive: true, force: true });
  });

  describe("a login", () => {
    it("asks the endpoint about the key that has signed, as authorized_keys has it (2.3)", async () => {
      asked.length = 0;
      expect(await run("pwd")).toMatchObject({ status: 0, stdout: expect.stringContaining(": /\n") });
      expect(asked).toEqual([
        {
          type: "ssh-key",
          username: "alice",
          content: key.publicKey,
          peer: { address: "127.0.0.1", port: expect.any(Number), family: "IPv4", protocol: "TCP" },
          creator: { uuid: COMPONENT, type: "ssh" },
        },
      ]);
    });

    it("takes the second key when the first one is nobody's", async () => {
      const { status } = await runSftp(local, { ...access, keys: [stranger.path, key.path] }, ["pwd"]);
      expect(status).toBe(0);
    });

    it.each(["rsa", "ecdsa"])("takes keys of type %s too", async (type) => {
      const other = makeKey(join(local, `${type}_key`), type);
      asked.length = 0;
      await runSftp(local, { ...access, keys: [other.path] }, ["pwd"]);
      expect(asked.map(({ content }) => content)).toEqual([other.publicKey]);
    });

    it("by a key that is nobody's is refused", async () => {
      const { status, stderr } = await runSftp(local, { ...access, keys: [stranger.path] }, ["pwd"]);
      expect({ status, stderr }).toEqual({ status: 255, stderr: expect.stringContaining("Permission denied") });
    });

    it("by password is that of the accounts", async () => {
      const byPassword = { port: access.port, username: "bob", password: "hunter2" };
      expect((await runSftp(local, byPassword, ["pwd"])).status).toBe(0);
      const { status, stderr } = await runSftp(local, { ...byPassword, password: "wrong" }, ["pwd"]);
      expect({ status, stderr }).toEqual({ status: 255, stderr: expect.stringContaining("Permission denied") });
    });

    it("says of every key that it may be tried, and asks nobody about one that has not signed", async () => {
      asked.length = 0;
      const client = new ssh2.Client();
      onTestFinished(() => void client.end());
      const accepted = vi.fn();
      client.on("error", () => undefined);
      client.connect({
        host: "127.0.0.1",
        port: access.port,
        username: "alice",
        // It holds no private key: asked to sign, which follows on the acceptance alone, it gives up.
        agent: createSilentAgent(stranger.publicKey, accepted),
      });
      await new Promise<void>((resolve) => client.on("close", () => resolve()));
      expect(accepted).toHaveBeenCalledTimes(1);
      expect(asked).toEqual([]);
    });

    it("that fails too often ends the connection", async () => {
      const port = await startAnother({ maxFailures: 2 });
      const client = new ssh2.Client();
      const attempts = vi.fn();
      client.on("error", () => undefined);
      client.connect({
        host: "127.0.0.1",
        port,
        username: "bob",
        authHandler: (_methods, _partial, next) => {
          attempts();
          next({ type: "password", username: "bob", password: "wrong" });
        },
      });
      await new Promise<void>((resolve) => client.on("close", () => resolve()));
      expect(attempts.mock.calls.length).toBeLessThanOrEqual(3);
    });

    it("that does not come ends the connection, also one that says nothing", async () => {
      const port = await startAnother({ loginSeconds: 0.3 });
      const silent = connect(port, "127.0.0.1").on("error", () => undefined);
      silent.resume();
      await once(silent, "close");
    });

    it("to an account that cannot be used is refused, and the log knows why", async () => {
      const accounts = [{ username: "bob", password: "hunter2", group: "nobody" }];
      const logger = createRecordingLogger();
      const port = await startAnother({ authentication: [createAccountsAuthenticator({ accounts, logger })], logger });
      await expect(connectRaw({ port, username: "bob", password: "hunter2" })).rejects.toThrow(/authentication/);
      expect(logger.text()).toContain("group: is not one of the groups");
    });
  });

  describe("OpenSSH's sftp", () => {
    it("puts and gets 20 MiB identically, also over a former file", async () => {
      const bytes = randomBytes(20 * 1024 * 1024);
      await writeFile(join(local, "big.bin"), bytes);
      await writeFile(join(root, "alice/big.bin"), "former");
      const { status, stderr } = await run("put big.bin", "get big.bin back.bin");
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(digest(await readFile(join(root, "alice/big.bin")))).toBe(digest(bytes));
      expect(digest(await readFile(join(local, "back.bin")))).toBe(digest(bytes));
    });

    it("makes, lists and removes files and folders", async () => {
      await writeFile(join(local, "a.txt"), "twelve bytes");
      await run("mkdir list", "mkdir list/sub", "put a.txt list/a.txt");
      const { stdout } = await run("ls -l list", "ls -l list/a.txt");
      const line = /-rw-r--r-- .* 12 \w{3} [ \d]\d \d\d:\d\d (?:\/list\/|list\/)?a\.txt$/m;
      expect(stdout).toMatch(line);
      expect(stdout).toMatch(/^drwxr-xr-x .* (?:list\/)?sub$/m);
      expect((await run("rmdir list")).stderr).toContain("Failure");
      expect(await stored("alice/list")).toEqual(["a.txt", "sub"]);
      expect(await run("rm list/a.txt", "rmdir list/sub", "rmdir list")).toMatchObject({ status: 0, stderr: "" });
      expect(await stored()).not.toContain("list");
    });

    it("keeps names as they are, and an empty file", async () => {
      const names = ["with space.txt", "🚢 über.txt", "100%.txt"];
      for (const name of names) {
        await writeFile(join(local, name), "");
        expect(await run(`put "${name}" "${name}"`)).toMatchObject({ status: 0, stderr: "" });
        expect(await overHttp(`/${name}`)).toEqual({ status: 200, text: "", serverPath: `/${name}` });
      }
      expect(await stored()).toEqual(expect.arrayContaining(names));
      const { stdout } = await run("ls -1");
      for (const name of names) expect(stdout.split("\n")).toContain(name);
    });

    it("finds its way with . and .., which end at the root", async () => {
      await writeFile(join(local, "dot.txt"), "dot");
      const { status, stdout } = await run("mkdir d", "cd d", "put dot.txt .", "ls ../d/.", "cd ../../..", "pwd");
      expect(status).toBe(0);
      expect(stdout).toMatch(/directory: \/\n$/);
      expect(await stored("alice/d")).toEqual(["dot.txt"]);
    });

    it("lists more members than one answer holds", async () => {
      await mkdir(join(root, "alice/many"));
      const names = Array.from({ length: 300 }, (_, index) => `m${index}.txt`);
      for (const name of names) await writeFile(join(root, "alice/many", name), "");
      const { stdout } = await run("cd many", "ls -1");
      expect(
        stdout
          .split("\n")
          .filter((line) => line.startsWith("m"))
          .sort(),
      ).toEqual(names.sort());
    });

    it("puts with -p, whose times are not kept", async () => {
      await writeFile(join(local, "p.txt"), "p");
      expect(await run("put -p p.txt")).toMatchObject({ status: 0, stderr: "" });
    });

    it("cannot rename, resume or change owners by halves", async () => {
      await writeFile(join(local, "r.txt"), "longer than before");
      await writeFile(join(root, "alice/r.txt"), "before");
      expect((await run("rename r.txt s.txt")).stderr).toContain("Operation unsupported");
      expect((await run("reput r.txt")).status).toBe(1);
      expect(await readFile(join(root, "alice/r.txt"), "utf8")).toBe("before");
    });

    it("that is killed midway leaves the former file and no residue", async () => {
      await writeFile(join(local, "slow.bin"), randomBytes(8 * 1024 * 1024));
      await writeFile(join(root, "alice/slow.bin"), "former");
      const before = await stored();
      const child = await startSftp(local, access, ["put slow.bin"], ["-l", "16000"]);
      await vi.waitFor(async () => expect(await stored()).not.toEqual(before), { timeout: 10_000, interval: 20 });
      child.kill("SIGKILL");
      await vi.waitFor(async () => expect(await stored()).toEqual(before), { timeout: 10_000, interval: 20 });
      expect(await readFile(join(root, "alice/slow.bin"), "utf8")).toBe("former");
    });
  });

  describe("the files", () => {
    it("are those of HTTP, on the paths that Server-Path names (1.4)", async () => {
      await mkdir(join(root, "alice/reports"));
      await writeFile(join(local, "a.csv"), "a,b\n");
      const { serverPath } = await overHttp("/reports/a.csv");
      expect(serverPath).toBe("/reports/a.csv");
      expect((await run(`put a.csv ${serverPath}`)).status).toBe(0);
      expect(await overHttp("/reports/a.csv")).toEqual({ status: 200, text: "a,b\n", serverPath });
    });

    it("are under the permissions of HTTP", async () => {
      await writeFile(join(local, "w.txt"), "w");
      expect((await overHttp("/readonly/r.txt", "DELETE")).status).toBe(403);
      expect((await run("rm /readonly/r.txt")).stderr).toContain("Permission denied");
      expect((await run("put w.txt /readonly/w.txt")).stderr).toContain("Permission denied");
      expect((await run("mkdir /readonly/new")).stderr).toContain("Permission denied");
      expect((await run("get /readonly/r.txt got.txt")).status).toBe(0);
      expect(await stored("alice/readonly")).toEqual(["r.txt"]);
    });

    it("may be such that they can only be dropped", async () => {
      await writeFile(join(local, "w.txt"), "w");
      expect(await run("put w.txt /drop/w.txt", "put w.txt /drop/w.txt")).toMatchObject({ status: 0, stderr: "" });
      expect((await run("get /drop/w.txt got.txt")).stderr).toContain("Permission denied");
      expect((await run("ls /drop")).status).toBe(1);
    });

    it("have the virtual folders of HTTP", async () => {
      await writeFile(join(local, "v.txt"), "shared");
      expect((await run("put v.txt /common/v.txt")).status).toBe(0);
      expect(await readFile(join(root, "shared/v.txt"), "utf8")).toBe("shared");
      expect((await overHttp("/common/v.txt")).text).toBe("shared");
      expect((await run("ls -1")).stdout).toMatch(/^common$/m);
      expect((await run("rmdir /common")).status).toBe(1);
    });

    it("have no reserved name", async () => {
      expect((await run("mkdir /__svc__")).stderr).toContain("Permission denied");
    });
  });

  describe("any client", () => {
    it.each(["a\\b", "a\u0001b", "a\ufffdb", "x".repeat(256)])("is refused the name %j", async (name) => {
      const { sftp } = await raw();
      await expect(ask((done) => sftp.mkdir(`/${name}`, done))).rejects.toMatchObject({ code: STATUS_CODE.FAILURE });
    });

    it("reads any part of a file in any order, of one version of it", async () => {
      const bytes = randomBytes(1024 * 1024);
      await writeFile(join(root, "alice/jump.bin"), bytes);
      const { sftp } = await raw();
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
      await overwrite(storage, "/alice/jump.bin", "another");
      await expect(read(10, 10)).rejects.toMatchObject({ message: "The file has changed." });
    });

    it("writes whole files only, and another leaves the former", async () => {
      await writeFile(join(root, "alice/whole.txt"), "former");
      const { sftp } = await raw();
      const unsupported = { code: STATUS_CODE.OP_UNSUPPORTED };
      const open = (flags: number) => ask<Buffer>((done) => sftp.open("/whole.txt", flags, done));
      const write = (handle: Buffer, text: string, offset: number) =>
        ask((done) => sftp.write(handle, Buffer.from(text), 0, text.length, offset, done));
      await expect(open(OPEN_MODE.WRITE)).rejects.toMatchObject(unsupported);
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
      expect(await readFile(join(root, "alice/whole.txt"), "utf8")).toBe("former");
      expect(await stored()).toContain("whole.txt");
    });

    it("may not be further ahead than a few requests", async () => {
      const { sftp } = await raw();
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

    it("may have several requests under way, a little out of order", async () => {
      const bytes = randomBytes(3_000_001);
      await writeFile(join(local, "quick.bin"), bytes);
      const { sftp } = await raw();
      await ask((done) => sftp.fastPut(join(local, "quick.bin"), "/quick.bin", {}, done));
      expect(digest(await readFile(join(root, "alice/quick.bin")))).toBe(digest(bytes));
      await ask((done) => sftp.fastGet("/quick.bin", join(local, "quick-back.bin"), {}, done));
      expect(digest(await readFile(join(local, "quick-back.bin")))).toBe(digest(bytes));
    });

    it("may send and ask faster than the storage is", async () => {
      const slow = overrideStorage(storage, {
        write: (path, content, own) => storage.write(path, slowed(content), own),
      });
      const { client, sftp } = await raw(await startAnother({ storage: slow }));
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

    it("may break off or talk nonsense without harm to others", async () => {
      for (const nonsense of ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n".padEnd(5000, "\u00ff"), ""]) {
        const socket = connect(access.port, "127.0.0.1").on("error", () => undefined);
        await once(socket, "connect");
        socket.write(nonsense);
        socket.resetAndDestroy();
      }
      const before = await stored();
      const { client, sftp } = await raw();
      await ask((done) => sftp.open("/gone.txt", "w", done));
      client.destroy();
      expect((await run("pwd")).status).toBe(0);
      await vi.waitFor(async () => expect(await stored()).toEqual(before), { timeout: 10_000 });
    });

    it("learns nothing of the machine when the storage fails, but the log does", async () => {
      const broken = overrideStorage(storage, {
        stat: async (path) => {
          if (path.endsWith("/broken")) throw new Error(`EIO: ${root}`);
          return storage.stat(path);
        },
      });
      const logger = createRecordingLogger();
      const { sftp } = await raw(await startAnother({ storage: broken, logger }));
      await expect(ask((done) => sftp.stat("/broken", done))).rejects.toMatchObject({ message: "Internal error" });
      expect(logger.text()).toContain("EIO");
    });
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

/** An agent with one public key that signs nothing, and says when it is asked to. */
function createSilentAgent(publicKey: string, onSign: () => void): InstanceType<typeof ssh2.BaseAgent> {
  return Object.assign(Object.create(ssh2.BaseAgent.prototype), {
    getIdentities: (done: (error: Error | null, keys: string[]) => void) => done(null, [publicKey]),
    sign: (...args: unknown[]) => {
      onSign();
      const done = args.findLast((argument) => typeof argument === "function") as (error: Error) => void;
      done(new Error("This agent signs nothing."));
    },
  });
}
