/**
 * An authentication endpoint: what answers a fileferry service whose accounts live elsewhere, here in a small table.
 *
 *     AUTH_TOKEN=secret node examples/authentication-endpoint.ts
 *     npx fileferry check-auth-endpoint http://127.0.0.1:8081/ --header 'Authorization: token secret' --user alice
 *
 * To be started like that it needs Node 22.18 or newer, which runs TypeScript; on Node 20, `npx tsx` does in place of `node`.
 * `PORT` says where it listens. Passwords travel to it: anywhere but on one machine, put it behind HTTPS.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type AccountSettings, createAuthenticationEndpoint } from "fileferry";
import { createNodePasswordHasher } from "fileferry/node";

interface User {
  /** What `fileferry hash-password` prints; never the password itself. */
  readonly passwordHash: string;
  /** Lines of `authorized_keys`. */
  readonly sshKeys: readonly string[];
  /** What differs from the account's group at the service. */
  readonly account?: AccountSettings;
}

/** A Map, not an object: `constructor` is a name that anybody may log in with. */
const users: ReadonlyMap<string, User> = new Map([
  [
    "alice",
    {
      // correct horse battery
      passwordHash: "$scrypt$ln=13,r=8,p=10$gmWR7dS1Sg37gk6eAwtlOg$BvGqbVGCB85h3y/PjV927QjikG4s/XEJzMxhvdUdmPE",
      sshKeys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice@laptop"],
      account: { email: "alice@example.com", permissions: [["allow-full-control"], ["/archive/*", "allow-read"]] },
    },
  ],
  [
    "bob",
    {
      // a quiet night in May
      passwordHash: "$scrypt$ln=13,r=8,p=10$tG/bOmq7ogXYLeOtAfqCew$+3DiQpalJU0bg5/VArLzQhKDRhJJzqF4GxwjC1ZhjTQ",
      sshKeys: [],
    },
  ],
]);

const token = process.env.AUTH_TOKEN;
// "token undefined" would be a secret that everybody knows.
if (!token) throw new Error("AUTH_TOKEN must hold the secret that the service sends.");

const hasher = createNodePasswordHasher();
/** Names that are not known cost the same time as those that are: it tells nobody which exist. */
const nobodysHash = await hasher.hash(crypto.randomUUID());

const endpoint = createAuthenticationEndpoint({
  authorize: { header: "Authorization", value: `token ${token}` },
  async authenticate({ credentials }, { accept, unknown, reject }) {
    const { type, username, content } = credentials;
    const user = users.get(username);
    const isRight =
      type === "password" ? await isPassword(user, content) : type === "ssh-key" && isKeyOf(user, content);
    // Not one of ours: the service may know another method that knows the account.
    if (user === undefined) return unknown("No such user here.");
    if (!isRight) return reject({ message: "The credentials are wrong.", extra: { from: credentials.peer.address } });
    return accept(user.account);
  },
});

async function isPassword(user: User | undefined, password: string): Promise<boolean> {
  return hasher.verify(password, user?.passwordHash ?? nobodysHash);
}

/** The type and the key itself; what follows is a comment. The service has seen the client sign with it. */
function isKeyOf(user: User | undefined, key: string): boolean {
  const given = toKey(key);
  return user?.sshKeys.some((known) => toKey(known) === given) ?? false;
}

function toKey(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(" ");
}

/** What the endpoint takes at most. */
const maxBodyBytes = 256 * 1024;

/** From `node:http` to a handler of the fetch API and back. */
async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = "GET", headersDistinct } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const content = await readBody(incoming);
  const body = method === "GET" || method === "HEAD" ? null : content;
  const response = await endpoint(new Request("http://localhost/", { method, headers, body }));
  // What is left of a body that is too large is not read: the connection cannot serve another request.
  if (!incoming.complete) outgoing.setHeader("Connection", "close");
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}

/** All of the body, or of one that is too large so much that the endpoint sees it is. */
async function readBody(incoming: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxBodyBytes) break;
  }
  return new Uint8Array(Buffer.concat(chunks));
}

const server = createServer((incoming, outgoing) => {
  // The client has gone, or speaks a method that the fetch API knows nothing of.
  answer(incoming, outgoing).catch(() => outgoing.destroy());
});
server.requestTimeout = 30_000;
server.listen(Number(process.env.PORT ?? 8081), "127.0.0.1", () => {
  process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => server.close());
