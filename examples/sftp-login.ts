import type { AccountFiles, AuthenticationChain, Credentials, Logger, OpenAccount } from "fileferry";
import ssh2, { type AuthContext, type AuthenticationType, type Connection, type PublicKeyAuthContext } from "ssh2";

/** How clients log in on one connection. */
export interface LoginOptions {
  readonly authentication: AuthenticationChain;
  readonly openAccount: OpenAccount;
  /** Who asks from where, as authenticators are told. */
  readonly origin: Pick<Credentials, "peer" | "creator">;
  /** So many refused logins end the connection, as `MaxAuthTries` of OpenSSH does. */
  readonly maxFailures: number;
  readonly logger: Logger;
}

/** An account that has logged in. */
export interface Login {
  readonly username: string;
  readonly files: AccountFiles;
}

const METHODS: AuthenticationType[] = ["publickey", "password"];
/** Requests for a login of any kind, those that only ask whether a key may be tried included. */
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
 * Lets a client log in by key or password: `onLogin` is called once, before it can ask for anything.
 *
 * Clients first ask, unsigned, whether a key may be tried. The answer is yes for every key, whosever it is, so that
 * nobody learns which keys open an account; the authenticators are asked only about a key that has signed.
 */
export function awaitLogin(connection: Connection, options: LoginOptions, onLogin: (login: Login) => void): void {
  let requests = 0;
  let failures = 0;

  function refuse(context: AuthContext): void {
    failures += 1;
    if (failures >= options.maxFailures) connection.end();
    else context.reject(METHODS);
  }

  async function judge(context: AuthContext): Promise<void> {
    // Which methods there are: the first thing that OpenSSH asks.
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
    judge(context).catch((error: unknown) => {
      options.logger.error({ error }, "A login could not be judged.");
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
    // As over HTTP the client does not learn why, but the operator does.
    logger.warn({ username, error }, "An account with valid credentials cannot be used.");
    return undefined;
  }
}

/** What a request proves; `undefined` when it proves nothing. */
function toCredentials(context: AuthContext): Credentials | undefined {
  const { username } = context;
  if (context.method === "publickey") {
    const content = toVerifiedKey(context);
    return content === undefined ? undefined : { type: "ssh-key", username, content };
  }
  // A request to change the password has an object here.
  if (context.method !== "password" || typeof context.password !== "string") return undefined;
  return { type: "password", username, content: context.password };
}

/** The key as it stands in `authorized_keys`, when the request is signed with it. */
function toVerifiedKey({ key, blob, signature, hashAlgo }: PublicKeyAuthContext): string | undefined {
  const text = `${key.algo} ${key.data.toString("base64")}`;
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error || !KEY_TYPES.includes(parsed.type) || blob === undefined || signature === undefined) {
    return undefined;
  }
  // A key of one type that is written as one of another.
  if (!parsed.getPublicSSH().equals(key.data)) return undefined;
  // Without a name of its own the hash is SHA-1 (RFC 8332).
  if (parsed.type === "ssh-rsa" && hashAlgo === undefined) return undefined;
  return parsed.verify(blob, signature, hashAlgo) === true ? text : undefined;
}

function isAcceptedType({ key }: PublicKeyAuthContext): boolean {
  return KEY_TYPES.includes(key.algo);
}
