import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AccountSettings,
  type Credentials,
  createAccountsAuthenticator,
  createFileService,
  createHttpAuthenticator,
  type StorageAdapter,
} from "fileferry";
import { createDiskStorage } from "fileferry/storage/disk";
import { createMemoryKeyValueStore } from "fileferry/stores/memory";
import ssh2 from "ssh2";
import { onTestFinished } from "vitest";
import { createSftpServer, type SftpServerOptions } from "../../../examples/sftp-server.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { type Access, connectRaw, type KeyFile, makeKey, type RawClient, runSftp, type SftpRun } from "./client.ts";

/** The SFTP server's own identifier. */
export const COMPONENT = "dff314a6-c594-48dc-8e34-5270fd6cb635";
const SERVER = "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902";

/** The common settings of alice and bob, whichever method authenticates them. */
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

/** What an answer over HTTP came to. */
interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** Percent-decoded. */
  readonly serverPath: string;
}

/**
 * The example's server with all that is around it: bob has a password, alice a key that an endpoint over HTTP knows.
 */
export interface SftpEnvironment {
  /** The folder of the storage; `alice` in it is the home of both. */
  readonly root: string;
  /** The client's folder. */
  readonly local: string;
  readonly storage: StorageAdapter;
  /** How alice logs in. */
  readonly access: Access;
  readonly key: KeyFile;
  /** A key that no account has. */
  readonly stranger: KeyFile;
  /** The credentials that the endpoint was asked about. */
  readonly asked: Credentials[];
  /** Starts another server until the end of the test; its port. */
  startAnother(own: Partial<SftpServerOptions>): Promise<number>;
  /** Runs `sftp` as alice. */
  run(...commands: string[]): Promise<SftpRun>;
  /** Connects ssh2's client as bob until the end of the test. */
  raw(port?: number): Promise<RawClient>;
  /** Asks the HTTP service on the same storage as alice, who has a password there. */
  overHttp(path: string, method?: string): Promise<HttpAnswer>;
  /** Locks a file over HTTP, as a WebDAV client does. */
  lock(path: string): Promise<void>;
  /** The names in a folder of the storage, files of unfinished uploads included. */
  stored(folder?: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function createSftpEnvironment(): Promise<SftpEnvironment> {
  const root = await mkdtemp(join(tmpdir(), "fileferry-sftp-root-"));
  const local = await mkdtemp(join(tmpdir(), "fileferry-sftp-local-"));
  for (const folder of ["alice/readonly", "alice/drop", "shared"]) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, "alice/readonly/r.txt"), "read me");
  const storage = createDiskStorage({ root });
  const key = makeKey(join(local, "alice_key"));
  const stranger = makeKey(join(local, "stranger_key"));
  const asked: Credentials[] = [];
  const endpoint = await startEndpoint(key.publicKey, asked);
  const { port } = endpoint.address() as AddressInfo;
  const logger = createRecordingLogger();
  const bob = { username: "bob", password: "hunter2", ...SETTINGS };
  const webdav = { lockStore: createMemoryKeyValueStore() };
  const options: SftpServerOptions = {
    storage,
    webdav,
    uuid: COMPONENT,
    authentication: [
      createAccountsAuthenticator({ accounts: [bob], logger }),
      createHttpAuthenticator({
        url: `http://127.0.0.1:${port}/auth`,
        server: { uuid: SERVER },
        creator: { uuid: COMPONENT, type: "ssh" },
        testAtStart: false,
        logger,
      }),
    ],
    hostKeys: [ssh2.utils.generateKeyPairSync("ecdsa", { bits: 256 }).private],
    logger,
  };
  const server = createSftpServer(options);
  const access: Access = { port: await server.listen(0), username: "alice", keys: [key.path] };
  const accounts = [{ username: "alice", password: "secret", ...SETTINGS }];
  const http = createFileService({
    storage,
    webdav,
    authentication: createAccountsAuthenticator({ accounts, logger }),
    logger,
  });

  async function startAnother(own: Partial<SftpServerOptions>): Promise<number> {
    const another = createSftpServer({ ...options, ...own });
    onTestFinished(() => another.close());
    return another.listen(0);
  }

  async function raw(port = access.port): Promise<RawClient> {
    const connected = await connectRaw({ port, username: "bob", password: "hunter2" });
    onTestFinished(() => void connected.client.end());
    return connected;
  }

  async function overHttp(path: string, method = "GET"): Promise<HttpAnswer> {
    const url = `http://files.example/home${path.split("/").map(encodeURIComponent).join("/")}`;
    const headers = { authorization: `Basic ${btoa("alice:secret")}`, accept: "application/json" };
    const response = await http.fetch(new Request(url, { method, headers }));
    const serverPath = decodeURIComponent(response.headers.get("server-path") ?? "");
    return { status: response.status, text: await response.text(), serverPath };
  }

  async function lock(path: string): Promise<void> {
    const body = `<l:lockinfo xmlns:l="DAV:"><l:lockscope><l:exclusive/></l:lockscope><l:locktype><l:write/></l:locktype></l:lockinfo>`;
    const headers = { authorization: `Basic ${btoa("alice:secret")}`, "content-type": "application/xml" };
    const response = await http.fetch(
      new Request(`http://files.example/home${path}`, { method: "LOCK", headers, body }),
    );
    if (response.status !== 200) throw new Error(`LOCK of ${path}: ${response.status}`);
  }

  async function close(): Promise<void> {
    await server.close();
    endpoint.close();
    await rm(root, { recursive: true, force: true });
    await rm(local, { recursive: true, force: true });
  }

  return {
    root,
    local,
    storage,
    access,
    key,
    stranger,
    asked,
    startAnother,
    run: (...commands) => runSftp(local, access, commands),
    raw,
    overHttp,
    lock,
    stored: async (folder = "alice") => (await readdir(join(root, folder))).sort(),
    close,
  };
}

/** An endpoint as an integrator builds it (2.3, 2.4): it knows alice by one key. */
async function startEndpoint(publicKey: string, asked: Credentials[]): Promise<Server> {
  const endpoint = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { credentials } = JSON.parse(body) as { credentials: Credentials };
    asked.push(credentials);
    const { type, username, content } = credentials;
    if (type !== "ssh-key" || username !== "alice" || content !== publicKey) {
      response.writeHead(401).end();
    } else {
      response.setHeader("Content-Type", "application/json; charset=utf-8");
      response.end(JSON.stringify({ account: SETTINGS }));
    }
  });
  await once(endpoint.listen(0, "127.0.0.1"), "listening");
  return endpoint;
}
