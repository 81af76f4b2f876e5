import type * as z from "zod";

/** The problems of a parsed configuration, each as `key.path: reason`, without any value. */
export function describeIssues(error: z.ZodError): readonly string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => `${toKeyPath([...issue.path, key])}: unknown key`);
    }
    const keyPath = toKeyPath(issue.path);
    return [keyPath === "" ? toReason(issue.message) : `${keyPath}: ${toReason(issue.message)}`];
  });
}

function toReason(message: string): string {
  if (message.endsWith(", received undefined")) return "is missing";
  return message.replace(/^Invalid [a-z ]+[:.] [Ee]xpected/, "expected");
}

/**
 * The path of a key as text, such as `authentication[0].accounts[1].username`. Keys that are not plain words are
 * quoted.
 */
export function toKeyPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = String(key);
    if (!/^[\w-]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === "" ? name : `${text}.${name}`;
  }, "");
}
