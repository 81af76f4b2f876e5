/** A failure that the user can fix: the lines that the command prints, and its exit status. */
export interface CommandFailure {
  /** 1: the start failed; 2: the configuration or a flag is wrong. */
  readonly exitStatus: 1 | 2;
  /** The problems, each a complete line for the user, without secrets and stack traces. */
  readonly problems: readonly string[];
}

const failureKey = Symbol("failure");

/** Creates an error that carries a {@link CommandFailure}. */
export function createFailure(exitStatus: CommandFailure["exitStatus"], problems: readonly string[]): Error {
  return Object.assign(new Error(problems.join("\n")), {
    [failureKey]: { exitStatus, problems } satisfies CommandFailure,
  });
}

/** The failure that a thrown value carries; `undefined` if it is another error, which is a bug. */
export function failureOf(thrown: unknown): CommandFailure | undefined {
  if (typeof thrown !== "object" || thrown === null || !(failureKey in thrown)) return undefined;
  return thrown[failureKey] as CommandFailure;
}

/** Describes an error of the system or of TLS in words. The message of the error would repeat the call and the path. */
export function describeSystemError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const meaning = systemErrors.get(code);
  if (meaning !== undefined) return meaning;
  return code === "" ? (error as Error).message : code;
}

const systemErrors: ReadonlyMap<string, string> = new Map([
  ["CERT_HAS_EXPIRED", "the certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "no known authority has signed the certificate"],
  ["EACCES", "permission denied"],
  ["EADDRINUSE", "the address is already in use"],
  ["EADDRNOTAVAIL", "not an address of this machine"],
  ["ECONNREFUSED", "the connection was refused"],
  ["ECONNRESET", "the connection was closed"],
  ["EHOSTUNREACH", "the host cannot be reached"],
  ["EISDIR", "is a folder"],
  ["ELOOP", "too many symbolic links"],
  ["ENOENT", "does not exist"],
  ["ENOTDIR", "does not exist"],
  ["ENOTFOUND", "the host name is unknown"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the certificate is for another host name"],
  ["ETIMEDOUT", "no response in time"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "no known authority has signed the certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "no known authority has signed the certificate"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the certificate of its authority is unknown, or missing in the chain"],
]);
