/** A start that failed for a reason that the user can mend: what the command prints, and the status it ends with. */
export interface Failure {
  /** 1: the start failed; 2: the configuration or a flag is wrong. */
  readonly exitStatus: 1 | 2;
  /** One problem a line, each whole and for the user's eyes: no secret, no stack trace. */
  readonly problems: readonly string[];
}

const failureKey = Symbol("failure");

/** An error that carries a {@link Failure}, to throw. */
export function createFailure(exitStatus: Failure["exitStatus"], problems: readonly string[]): Error {
  return Object.assign(new Error(problems.join("\n")), { [failureKey]: { exitStatus, problems } satisfies Failure });
}

/** The failure that a thrown value carries; `undefined` for anything else, which is a defect. */
export function toFailure(thrown: unknown): Failure | undefined {
  if (typeof thrown !== "object" || thrown === null || !(failureKey in thrown)) return undefined;
  return thrown[failureKey] as Failure;
}

/** What the operating system has to say, in words; its message would repeat the call and the path. */
export function describeSystemError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const meaning = systemErrors.get(code);
  if (meaning !== undefined) return meaning;
  return code === "" ? (error as Error).message : code;
}

const systemErrors: ReadonlyMap<string, string> = new Map([
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
  ["ETIMEDOUT", "no response in time"],
]);
