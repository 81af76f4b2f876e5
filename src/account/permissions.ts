import { OPERATIONS, type Operation, PERMISSION_VALUES, type PermissionValue } from "../contracts/account.ts";
import { compilePathExpression, type PathExpression, toSubject } from "./path-expression.ts";

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

/** The value that denies every operation, even if other values of the same rule grant it. */
const DENIAL: PermissionValue = "deny-full-control";

/**
 * The limit of all expressions of an account together, in steps. Each character of a path can cost this number of
 * steps, and an attacker can send a path of thousands of characters.
 */
const MAX_STEPS = 2000;

/**
 * The limit of one check, in steps for each character of the path: it takes about 17 ms of one core. A path
 * of 250 characters is never too long, and with 200 steps none of 2,500.
 */
const MAX_WORK = 500_000;

/** The work after which other requests must run between checks. */
const WORK_PER_PAUSE = MAX_WORK / 5;

/** The compiled permissions of an account. */
export interface Permissions {
  /**
   * Returns whether an operation is granted on a virtual path (`/` and its segments, without a trailing `/`). On a path
   * that is too long to be checked, only what is granted everywhere is granted.
   */
  allows(path: string, operation: Operation): boolean;
  /** Returns whether a path is too long to be checked against all expressions in a short time. */
  isTooLong(path: string): boolean;
  /**
   * Counts the check of a path. Returns whether the checks since the last time were long together: then other requests
   * must run before the check.
   */
  isPauseDue(path: string): boolean;
  /** Returns whether the general permissions and every rule grant an operation. */
  grantsEverywhere(operation: Operation): boolean;
  /**
   * Returns whether the general permissions or any rule grant an operation. Whether the rule ever matches is not
   * checked.
   */
  grantsSomewhere(operation: Operation): boolean;
  /** Returns the result of {@link allows} with its reasons. */
  explain(path: string, operation: Operation): Explanation;
}

/** Why an operation is granted or not. */
export interface Explanation {
  readonly granted: boolean;
  /** The path expression that matched first; absent if the general permissions decide. */
  readonly rule?: string;
  /** The value that decided: `deny-full-control`, or the first value that grants the operation; absent if none does. */
  readonly value?: PermissionValue;
  /** If no value decided: the values of which any one would have granted the operation. */
  readonly missing: readonly PermissionValue[];
}

interface Rule extends PathExpression {
  readonly expression: string | undefined;
  readonly values: readonly PermissionValue[];
  readonly granted: ReadonlySet<Operation>;
}

/**
 * Compiles permissions as they are in account settings (2.4). The first item of the list has the general permissions.
 * Each further item is a rule: a path expression, then the permissions that replace the general ones for paths that
 * this rule is the first to match (CONTRACT 7.4). `user` is the encoded user name that replaces `${USER}`.
 * @throws SyntaxError such as `permissions[1]: ...`, for an unknown value, an invalid expression, a rule without
 * permissions, or expressions of more than 2,000 steps in total.
 */
export function compilePermissions(permissions: readonly (readonly string[])[], user: string): Permissions {
  const [general = [], ...given] = permissions;
  const rules = compileRules(given, user);
  const fallback = atIndex(0, () => toRule(undefined, MATCHES_ALL, general));
  const all = [...rules, fallback];
  const steps = sumSteps(rules);
  let work = 0;
  /** A request checks several operations on one path. */
  let last = { path: "", rule: fallback };

  function ruleFor(path: string): Rule {
    if (rules.length === 0) return fallback;
    if (last.path !== path) last = { path, rule: findRule(all, path) };
    return last.rule;
  }

  function isTooLong(path: string): boolean {
    return path.length * steps > MAX_WORK;
  }

  function isPauseDue(path: string): boolean {
    work += path.length * steps;
    if (work < WORK_PER_PAUSE) return false;
    work = 0;
    return true;
  }

  function grantsEverywhere(operation: Operation): boolean {
    return all.every(({ granted }) => granted.has(operation));
  }

  return {
    allows: (path, operation) => (isTooLong(path) ? grantsEverywhere(operation) : ruleFor(path).granted.has(operation)),
    isTooLong,
    isPauseDue,
    grantsEverywhere,
    grantsSomewhere: (operation) => all.some(({ granted }) => granted.has(operation)),
    explain: (path, operation) => explain(ruleFor(path), operation),
  };
}

function findRule(rules: readonly Rule[], path: string): Rule {
  const subject = toSubject(path);
  return rules.find(({ matches }) => matches(subject)) as Rule;
}

/** Compiles rules until they have too many steps: compiling the others would take time for nothing. */
function compileRules(rules: readonly (readonly string[])[], user: string): readonly Rule[] {
  const compiled: Rule[] = [];
  for (const [index, rule] of rules.entries()) {
    compiled.push(atIndex(index + 1, () => compileRule(rule, user)));
    if (sumSteps(compiled) > MAX_STEPS) {
      throw new SyntaxError(`permissions[${index + 1}]: the expressions have more than ${MAX_STEPS} steps in total`);
    }
  }
  return compiled;
}

function sumSteps(rules: readonly Rule[]): number {
  return rules.reduce((sum, { steps }) => sum + steps, 0);
}

const MATCHES_ALL: PathExpression = { steps: 0, matches: () => true };

/** Prefixes the message of an error with the item of the permissions that it is about. */
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

function toRule(expression: string | undefined, compiled: PathExpression, texts: readonly string[]): Rule {
  const values = texts.map((text) => {
    if (!isPermissionValue(text)) throw new SyntaxError("is not a known permission");
    return text;
  });
  const granted = operationsOf(values.includes(DENIAL) ? [] : values);
  return { ...compiled, expression, values, granted };
}

/** The operations that permission values grant. */
export function operationsOf(values: readonly PermissionValue[]): ReadonlySet<Operation> {
  return new Set(values.flatMap((value): readonly Operation[] => GRANTS[value]));
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
