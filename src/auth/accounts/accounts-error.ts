import type * as z from "zod";

/**
 * A list of accounts cannot be used. The message has the place and the reason, as in `accounts[1].password: must not be
 * empty`.
 */
export class AccountsError extends TypeError {
  /** From the list to the wrong member, such as `[1, "password"]`. */
  readonly path: readonly PropertyKey[];
  /** Never quotes a value. */
  readonly reason: string;

  constructor(path: readonly PropertyKey[], reason: string) {
    super(`${toKeyPath("accounts", path)}: ${reason}`);
    this.name = "AccountsError";
    this.path = path;
    this.reason = reason;
  }
}

/** The place and the reason of the first issue, as in `accounts[1].email: ...`, without the value. */
export function describeIssue(error: z.ZodError): string {
  const { path, reason } = findIssue(error);
  return path.length === 0 ? reason : `${toKeyPath("", path)}: ${reason}`;
}

/** The path and the reason of one issue. An unknown key comes first: it may be another one that is misspelt. */
export function findIssue({ issues }: z.ZodError): Pick<AccountsError, "path" | "reason"> {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) return { path: [], reason: "is not valid" };
  const [unknownKey = ""] = issue.code === "unrecognized_keys" ? issue.keys : [];
  if (unknownKey !== "") return { path: [...issue.path, unknownKey], reason: "unknown key" };
  return { path: issue.path, reason: / undefined$/.test(issue.message) ? "is missing" : issue.message };
}

function toKeyPath(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((keyPath, key) => {
    if (typeof key === "number") return `${keyPath}[${key}]`;
    return keyPath === "" ? String(key) : `${keyPath}.${String(key)}`;
  }, root);
}
