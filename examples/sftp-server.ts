/**
 * An SFTP server for the accounts of an HTTP service: the same authenticators, permissions, files and paths. The header
 * `Server-Path` of an HTTP response contains the path of the file here.
 *
 *     node examples/sftp-server.ts --folder ./files --account demo:demo
 *     sftp -P 2222 demo@127.0.0.1
 *
 * It needs the package `ssh2`. This command needs Node 22.18 or newer, which runs TypeScript.
 */
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import {
  type AccountOpenerOptions,
  type Authenticator,
  createAccountOpener,
  createAccountsAuthenticator,
  createAuthenticationChain,
  createHttpAuthenticator,
  type GroupSettings,
  type Logger,
  NIL_UUID,
  type Peer,
  type StorageAdapter,
} from "fileferry";
import { createNodePasswordHasher } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";
import ssh2, { type ClientInfo, type Connection } from "ssh2";
import { createFlow } from "./sftp-flow.ts";
import { awaitLogin, type Login } from "./sftp-login.ts";
import { serveSession } from "./sftp-session.ts";

/** Options of {@link createSftpServer}. Storage, groups, limits and authentication are those of `createFileService`. */
export interface SftpServerOptions {
  readonly storage: StorageAdapter;
  readonly groups?: Readonly<Record<string, GroupSettings>>;
  readonly limits?: NonNullable<AccountOpenerOptions["limits"]>;
  /** The store of the service's locks, so that locks of WebDAV clients are obeyed. Default: no locks. */
  readonly webdav?: NonNullable<AccountOpenerOptions["webdav"]>;
  readonly authentication: readonly Authenticator[];
  /** Private keys in a format of OpenSSH or PEM, by which clients know the server. */
  readonly hostKeys: readonly (string | Buffer)[];
  /** Identifies this server to authenticators: `creator.uuid`. Default: the nil UUID. */
  readonly uuid?: string;
  /** The number of refused logins that ends a connection. Default: 6. */
  readonly maxFailures?: number;
  /** The seconds in which a client must log in. Default: 60. */
  readonly loginSeconds?: number;
  /** Default: 200. */
  readonly maxConnections?: number;
  /** Default: the console. */
  readonly logger?: Logger;
}

/** A server that can listen. */
export interface SftpServer {
  /** Starts the authenticators, then listens; on a free port for 0. Resolves with the port. */
  listen(port: number, host?: string): Promise<number>;
  /** Stops listening and closes all connections. Incomplete uploads are discarded. */
  close(): Promise<void>;
}

/** Sessions on one connection, as many as in OpenSSH. */
const MAX_SESSIONS = 10;
/** Concurrent connections of one account: each may have files open. */
const MAX_CONNECTIONS_OF_ACCOUNT = 10;
/** Connections from one address that have not logged in. OpenSSH allows 10 from all addresses (MaxStartups). */
const MAX_STARTING_FROM_ADDRESS = 20;
/** Without the groups of large primes, whose arithmetic would block all clients. */
const KEX = [
  "curve25519-sha256",
  "curve25519-sha256@libssh.org",
  "ecdh-sha2-nistp256",
  "ecdh-sha2-nistp384",
  "ecdh-sha2-nistp521",
] as const;

/** Makes an SFTP server. */
export function createSftpServer(options: SftpServerOptions): SftpServer {
  const {
    storage,
    groups = {},
    limits = {},
    logger = console,
    maxFailures = 6,
    loginSeconds = 60,
    maxConnections = 200,
  } = options;
  const creator = { uuid: options.uuid ?? NIL_UUID, type: "ssh" };
  const authentication = createAuthenticationChain(options.authentication, { logger });
  const { webdav } = options;
  const openAccount = createAccountOpener({ storage, groups, limits, ...(webdav !== undefined && { webdav }) });
  const ssh = new ssh2.Server({ hostKeys: [...options.hostKeys], ident: "fileferry", algorithms: { kex: [...KEX] } });
  const tcp = createServer({ noDelay: true }, admit);
  tcp.maxConnections = maxConnections;
  tcp.on("error", (error) => logger.error({ error }, "The SFTP server failed."));
  /** By the address of the client, by which ssh2 names a connection. */
  const sockets = new Map<string, { readonly socket: Socket; readonly deadline: NodeJS.Timeout; leaveStart(): void }>();
  const starting = createCounts();
  const connected = createCounts();

  /** Sets the deadline immediately: ssh2 would wait for the first byte without a limit. */
  function admit(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    if (!starting.enter(address, MAX_STARTING_FROM_ADDRESS)) return void socket.destroy();
    const leaveStart = once(() => starting.leave(address));
    socket.on("close", leaveStart);
    const key = toKey(socket.remoteAddress, socket.remotePort);
    const deadline = setTimeout(() => socket.destroy(), loginSeconds * 1000);
    sockets.set(key, { socket, deadline, leaveStart });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(deadline);
      if (sockets.get(key)?.socket === socket) sockets.delete(key);
    });
    ssh.injectSocket(socket);
  }

  ssh.on("connection", (connection: Connection, { ip, port }: ClientInfo) => {
    const known = sockets.get(toKey(ip, port));
    if (known === undefined) return void connection.end();
    const peer = toPeer(ip, port);
    const report = (error: unknown) => logger.error({ peer, error }, "An SFTP request failed.");
    // Every error of a client comes here, and ends only its own connection. A client that does not respond would never
    // close it.
    connection.on("error", (error) => {
      logger.info({ peer, error }, "An SSH connection failed.");
      setTimeout(() => known.socket.destroy(), 2000).unref();
    });
    awaitLogin(connection, { authentication, openAccount, origin: { peer, creator }, maxFailures, logger }, (login) => {
      clearTimeout(known.deadline);
      known.leaveStart();
      if (!connected.enter(login.username, MAX_CONNECTIONS_OF_ACCOUNT)) return void known.socket.destroy();
      known.socket.on("close", () => connected.leave(login.username));
      serveSessions(connection, known.socket, login, report);
    });
  });

  async function listen(port: number, host = "127.0.0.1"): Promise<number> {
    await authentication.start();
    await new Promise<void>((resolve, reject) => {
      tcp.once("error", reject);
      tcp.listen(port, host, resolve);
    });
    return (tcp.address() as AddressInfo).port;
  }

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => tcp.close(() => resolve()));
    for (const { socket } of sockets.values()) socket.destroy();
    await closed;
  }

  return { listen, close };
}

/** Counts by key. */
interface Counts {
  /** Counts one more. Returns false if there are `most` already. */
  enter(key: string, most: number): boolean;
  leave(key: string): void;
}

function createCounts(): Counts {
  const counts = new Map<string, number>();
  return {
    enter(key, most) {
      const count = counts.get(key) ?? 0;
      if (count < most) counts.set(key, count + 1);
      return count < most;
    },
    leave(key) {
      const count = (counts.get(key) ?? 1) - 1;
      if (count > 0) counts.set(key, count);
      else counts.delete(key);
    },
  };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

/** Sessions of other kinds, a shell or a tunnel, have no listener: ssh2 refuses them. */
function serveSessions(connection: Connection, socket: Socket, login: Login, report: (error: unknown) => void): void {
  const flow = createFlow(socket);
  let sessions = 0;
  connection.on("session", (accept, reject) => {
    if (sessions >= MAX_SESSIONS) return void reject();
    sessions += 1;
    const session = accept();
    session.on("close", () => {
      sessions -= 1;
    });
    session.once("sftp", (acceptSftp) => serveSession(acceptSftp(), { ...login, flow, report }));
  });
}

/** The peer as authenticators get it (2.3): an IPv4-mapped IPv6 address as IPv4, without a zone. */
function toPeer(ip: string, port: number): Peer {
  const [unzoned = ""] = ip.split("%", 1);
  const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(unzoned)?.[1] ?? unzoned;
  return { address, port, family: address.includes(":") ? "IPv6" : "IPv4", protocol: "TCP" };
}

function toKey(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      host: { type: "string", default: "127.0.0.1" },
      port: { type: "string", default: "2222" },
      folder: { type: "string", default: "./files" },
      "host-key": { type: "string" },
      account: { type: "string", multiple: true, default: [] },
      "auth-url": { type: "string" },
    },
  });
  const authentication = toAuthentication(values.account, values["auth-url"]);
  const hostKey = values["host-key"] === undefined ? makeHostKey() : readFileSync(values["host-key"]);
  const server = createSftpServer({
    storage: createDiskStorage({ root: values.folder }),
    authentication,
    hostKeys: [hostKey],
  });
  const port = await server.listen(Number(values.port), values.host);
  process.stdout.write(`Listening on sftp://${values.host}:${port}/\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
}

/**
 * Accounts of the command line, by password; then those of an endpoint of yours, by password or key
 * (docs/other-protocols.md).
 */
function toAuthentication(accounts: readonly string[], url: string | undefined): Authenticator[] {
  const entries = accounts.map((account) => {
    const [username = "", ...password] = account.split(":");
    return { username, password: password.join(":") };
  });
  const methods: Authenticator[] = [
    createAccountsAuthenticator({ accounts: entries, passwordHasher: createNodePasswordHasher() }),
  ];
  return url === undefined ? methods : [...methods, createHttpAuthenticator({ url })];
}

/** A key for this run only: clients see another server each time. */
function makeHostKey(): string {
  // Not ed25519: ssh2 cannot read one in 300 of those that it makes.
  return ssh2.utils.generateKeyPairSync("ecdsa", { bits: 256 }).private;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
