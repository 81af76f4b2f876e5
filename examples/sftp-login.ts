import type { AccountFiles, AuthenticationChain, Credentials, Logger, OpenAccount } from "fileferry";
import ssh2, { type AuthContext, type AuthenticationType, type Connection, type PublicKeyAuthContext } from "ssh2";

/** How clients log in on one connection. */
export interface LoginOptions {
  readonly authentication: AuthenticationChain;
  readonly openAccount: OpenAccount;
  /** The client and this server, as authenticators get them. */
  readonly origin: Pick<Credentials, "peer" | "creator">;
  /** The number of refused logins that ends the connection, as `MaxAuthTries` of OpenSSH. */
  readonly maxFailures: number;
  readonly logger: Logger;
}

/** An account that has logged in. */
export interface Login {
  readonly username: string;
  readonly files: AccountFiles;
}

const METHODS: AuthenticationType[] = ["publickey", "password"];
/** Maximum number of login requests, including those that only ask whether a key may be tried. */
const MAX_REQUESTS = 64;
/** RSA only with SHA-2: see {@link toVerifiedKey}. No DSA, no certificates. */
const KEY_TYPES: readonly string[] = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
];

/**
 * Lets a client log in by key or password. `onLogin` is called once, before the client can send other requests.
 *
 * Clients first ask, unsigned, whether a key may be tried. The response is yes for every key, so that a client cannot
 * find out which keys belong to accounts. The authenticators only verify a key that has signed.
 */
export function awaitLogin(connection: Connection, options: LoginOptions, onLogin: (login: Login) => void): void {
  let requests = 0;
  let failures = 0;

  function refuse(context: AuthContext): void {
    failures += 1;
    if (failures >= options.maxFailures) connection.end();
    else context.reject(METHODS);
  }

  async function respond(context: AuthContext): Promise<void> {
    // OpenSSH first asks which methods there are.
    if (context.method === "none") return context.reject(METHODS);
    if (context.method === "publickey" && context.signature === undefined) {
      return isAcceptedType(context) ? context.accept() : context.reject(METHODS);
    }
    const credentials = toCredentials(context);
    const login = credentials === undefined ? undefined : await logIn(credentials, options);
    if (login === undefined) return refuse(context);
    onLogin(login);
    context.accept();
  }

  connection.on("authentication", (context) => {
    requests += 1;
    if (requests > MAX_REQUESTS) return void connection.end();
    respond(context).catch((error: unknown) => {
      options.logger.error({ error }, "A login could not be verified.");
      refuse(context);
    });
  });
}

async function logIn(credentials: Credentials, options: LoginOptions): Promise<Login | undefined> {
  const { authentication, openAccount, origin, logger } = options;
  const { username } = credentials;
  const verdict = await authentication.authenticate({ ...credentials, ...origin });
  if (verdict.outcome !== "accepted") return undefined;
  try {
    return { username, files: await openAccount(username, verdict.account) };
  } catch (error) {
    // As over HTTP, only the operator learns why.
    logger.warn({ username, error }, "An account with valid credentials cannot be used.");
    return undefined;
  }
}

/** The credentials of a request; `undefined` if it has none that are valid. */
function toCredentials(context: AuthContext): Credentials | undefined {
  const { username } = context;
  if (context.method === "publickey") {
    const content = toVerifiedKey(context);
    return content === undefined ? undefined : { type: "ssh-key", username, content };
  }
  // In a request to change the password, it is an object.
  if (context.method !== "password" || typeof context.password !== "string") return undefined;
  return { type: "password", username, content: context.password };
}

/** The key as in `authorized_keys`, if the request is signed with it. */
function toVerifiedKey({ key, blob, signature, hashAlgo }: PublicKeyAuthContext): string | undefined {
  const text = `${key.algo} ${key.data.toString("base64")}`;
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error || !KEY_TYPES.includes(parsed.type) || blob === undefined || signature === undefined) {
    return undefined;
  }
  // A key of one type that claims another type.
  if (!parsed.getPublicSSH().equals(key.data)) return undefined;
  // Without a name the hash is SHA-1 (RFC 8332).
  if (parsed.type === "ssh-rsa" && hashAlgo === undefined) return undefined;
  return parsed.verify(blob, signature, hashAlgo) === true ? text : undefined;
}

function isAcceptedType({ key }: PublicKeyAuthContext): boolean {
  return KEY_TYPES.includes(key.algo);
}
