import { PERMISSION_VALUES, type PermissionValue } from "../contracts/account.ts";
import { compilePathExpression, type PathMatcher, toSubject } from "./path-expression.ts";

/** What can be asked of a path. */
export type Operation =
  /** Content and attributes of a file. */
  | "read"
  /** The members of a folder, with their attributes. */
  | "list"
  /** The folders among the members of a folder. */
  | "traverse"
  | "create-folder"
  /** Creating or overwriting a file. */
  | "write"
  | "rename"
  | "delete-file"
  | "delete-folder"
  | "set-attributes";

/** All operations. */
export const OPERATIONS = [
  "read",
  "list",
  "traverse",
  "create-folder",
  "write",
  "rename",
  "delete-file",
  "delete-folder",
  "set-attributes",
] as const satisfies readonly Operation[];

/** What each permission value grants (CONTRACT 7.4). */
const GRANTS = {
  "allow-full-control": OPERATIONS,
  "deny-full-control": [],
  "allow-read": ["read"],
  "allow-list": ["list", "traverse"],
  "allow-traverse": ["traverse"],
  "allow-create-folder": ["create-folder"],
  "allow-write": ["write"],
  "allow-rename": ["rename"],
  "allow-delete-file": ["delete-file"],
  "allow-delete-folder": ["delete-folder"],
  "allow-set-attributes": ["set-attributes"],
} as const satisfies Readonly<Record<PermissionValue, readonly Operation[]>>;

/** The denial: it beats every grant beside it. */
const DENIAL: PermissionValue = "deny-full-control";

/** Permissions of an account, compiled once. */
export interface Permissions {
  /** Whether an operation is granted on a virtual path (`/` and its segments, without a trailing `/`). */
  allows(path: string, operation: Operation): boolean;
  /** Whether an operation is granted whatever the path; false where that depends on rules. */
  grantsEverywhere(operation: Operation): boolean;
  /** Whether an operation is granted on any path at all, as far as the values tell. */
  grantsSomewhere(operation: Operation): boolean;
  /** The same as {@link allows} with its reasons. */
  explain(path: string, operation: Operation): Explanation;
}

/** Why an operation is granted or not. */
export interface Explanation {
  readonly granted: boolean;
  /** The path expression that matched first; absent where the general permissions decide. */
  readonly rule?: string;
  /** The value that decided: the denial, or the first that grants; absent where none grants. */
  readonly value?: PermissionValue;
  /** Where nothing decided: the values any one of which would have granted it. */
  readonly missing: readonly PermissionValue[];
}

interface Rule {
  readonly expression: string | undefined;
  readonly matches: PathMatcher;
  readonly values: readonly PermissionValue[];
  readonly granted: ReadonlySet<Operation>;
}

/**
 * Compiles permissions in the form of the wire (2.4): a list whose first item holds the general permissions, and each further one a path
 * expression and the permissions that stand in for them where it is the first to match (CONTRACT 7.4). `user` is the encoded
 * name for `${USER}`.
 * @throws SyntaxError for an unknown value, an invalid expression, or a rule without permissions, as `permissions[1]: ...`.
 */
export function compilePermissions(permissions: readonly (readonly string[])[], user: string): Permissions {
  const [general = [], ...rules] = permissions;
  const compiled: readonly Rule[] = [
    ...rules.map((rule, index) => atIndex(index + 1, () => compileRule(rule, user))),
    atIndex(0, () => toRule(undefined, () => true, general)),
  ];

  function ruleFor(path: string): Rule {
    const subject = toSubject(path);
    return compiled.find((rule) => rule.matches(subject)) as Rule;
  }

  return {
    allows: (path, operation) => ruleFor(path).granted.has(operation),
    grantsEverywhere: (operation) => compiled.every(({ granted }) => granted.has(operation)),
    grantsSomewhere: (operation) => compiled.some(({ granted }) => granted.has(operation)),
    explain: (path, operation) => explain(ruleFor(path), operation),
  };
}

/** Says in an error which item of the permissions it is about. */
function atIndex(index: number, compile: () => Rule): Rule {
  try {
    return compile();
  } catch (cause) {
    throw new SyntaxError(`permissions[${index}]: ${(cause as Error).message}`, { cause });
  }
}

function compileRule([expression, ...values]: readonly string[], user: string): Rule {
  if (expression === undefined || values.length === 0) throw new SyntaxError("a rule needs permissions");
  return toRule(expression, compilePathExpression(expression, user), values);
}

function toRule(expression: string | undefined, matches: PathMatcher, texts: readonly string[]): Rule {
  const values = texts.map((text) => {
    if (!isPermissionValue(text)) throw new SyntaxError("is not a known permission");
    return text;
  });
  const granted = values.includes(DENIAL) ? [] : values.flatMap((value): readonly Operation[] => GRANTS[value]);
  return { expression, matches, values, granted: new Set(granted) };
}

function isPermissionValue(text: string): text is PermissionValue {
  return Object.hasOwn(GRANTS, text);
}

function explain({ expression, values, granted }: Rule, operation: Operation): Explanation {
  const value = values.includes(DENIAL) ? DENIAL : values.find((candidate) => isGrantedBy(candidate, operation));
  return {
    granted: granted.has(operation),
    ...(expression !== undefined && { rule: expression }),
    ...(value !== undefined && { value }),
    missing: value === undefined ? PERMISSION_VALUES.filter((candidate) => isGrantedBy(candidate, operation)) : [],
  };
}

function isGrantedBy(value: PermissionValue, operation: Operation): boolean {
  return (GRANTS[value] as readonly Operation[]).includes(operation);
}
