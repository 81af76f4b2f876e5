/**
 * An authentication endpoint: it decides logins for a fileferry service whose accounts are in another system, here a
 * small table.
 *
 *     AUTH_TOKEN=secret node examples/authentication-endpoint.ts
 *     npx fileferry check-auth-endpoint http://127.0.0.1:8081/ --header 'Authorization: token secret' --user alice
 *
 * These commands need Node 22.18 or newer, which runs TypeScript. On Node 20 use `npx tsx` instead of `node`.
 * `PORT` is the port to listen on. The endpoint receives passwords: put it behind HTTPS unless the service is on the
 * same machine.
 */
import type { AddressInfo } from "node:net";
import { type AccountSettings, createAuthenticationEndpoint } from "fileferry";
import { closeNodeServer, createNodePasswordHasher, createNodeServer } from "fileferry/node";

interface User {
  /** What `fileferry hash-password` prints; never the password itself. */
  readonly passwordHash: string;
  /** Lines of `authorized_keys`. */
  readonly sshKeys: readonly string[];
  /** What differs from the account's group at the service. */
  readonly account?: AccountSettings;
}

/** A Map, not an object: `constructor` is a possible user name. */
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
/** Unknown names take the same time as known ones, so that the time does not reveal which exist. */
const unknownHash = await hasher.hash(crypto.randomUUID());

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
  return hasher.verify(password, user?.passwordHash ?? unknownHash);
}

/** The type and the key itself; what follows is a comment. The service has seen the client sign with it. */
function isKeyOf(user: User | undefined, key: string): boolean {
  const given = toKey(key);
  return user?.sshKeys.some((known) => toKey(known) === given) ?? false;
}

function toKey(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(" ");
}

const server = createNodeServer(endpoint);
server.listen(Number(process.env.PORT ?? 8081), "127.0.0.1", () => {
  process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => closeNodeServer(server));
