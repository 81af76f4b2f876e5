import { RE2JS } from "re2js";
import { compileLiteralGlob } from "./literal-glob.ts";

/** A virtual path (`/` and its segments, without a trailing `/`), prepared once for many expressions. */
export interface SubjectPath {
  readonly text: string;
  /** The path with every character in lower case that ASCII text without case can match. */
  readonly lower: string;
}

/** A compiled path expression. */
export interface PathExpression {
  /** The most steps that a character of a path can cost. */
  readonly steps: number;
  matches(path: SubjectPath): boolean;
}

/** How many characters of a glob without special characters count as one step, rounded up: comparing text is fast. */
const LITERAL_CHARACTERS_PER_STEP = 64;

/** The placeholder for the account's encoded name in an expression. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration spells it this way.
const USER = "${USER}";

/** The length limit of an expression. Remote endpoints can send expressions, so compiling one must be fast too. */
const MAX_EXPRESSION = 4096;

/** Prepares a path for expressions. */
export function toSubject(path: string): SubjectPath {
  return { text: path, lower: /^[ -~]*$/.test(path) ? path.toLowerCase() : toLowerAscii(path) };
}

/**
 * Beyond ASCII only the long s and the Kelvin sign match a letter of ASCII. `toLowerCase` would make ASCII letters of
 * others, such as the dotted capital I.
 */
function toLowerAscii(path: string): string {
  const lower = path.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return lower.replaceAll("\u017f", "s").replaceAll("\u212a", "k");
}

/**
 * Compiles a path expression (CONTRACT 7.5). A glob is written plainly or as `g/glob/`. A regular expression is written
 * as `m/regex/` to match paths and as `e/regex/` to match all other paths; a final `i` ignores case. `${USER}` matches
 * only `user`, letter by letter, also where case is ignored: `ALICE` may be another account than `alice`. Both kinds
 * run in linear time for every pattern and path (RE2).
 * @throws SyntaxError for an invalid expression.
 */
export function compilePathExpression(expression: string, user: string): PathExpression {
  if (expression.length > MAX_EXPRESSION) throw new SyntaxError("The expression is too long.");
  const [, kind, body = "", flags = ""] = /^([gme])\/(.*)\/([^/]*)$/s.exec(expression) ?? [];
  if (kind === undefined) {
    if (/^[gme]\//.test(expression)) throw new SyntaxError("the expression has no closing slash");
    return compileGlob(expression, user);
  }
  if (flags !== "" && (kind === "g" || flags !== "i")) throw new SyntaxError("what follows the last slash is not i");
  return kind === "g" ? compileGlob(body, user) : compileRegex(body, flags === "i", user, kind === "e");
}

function compileRegex(regex: string, ignoresCase: boolean, user: string, negated: boolean): PathExpression {
  if (regex === "") throw new SyntaxError("the regular expression is empty");
  const compiled = compile(withUser(regex, ignoresCase, user), ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  return { steps: compiled.programSize(), matches: ({ text }) => isFoundIn(text, compiled) !== negated };
}

/**
 * Compiles a glob, which ignores case. One alternative must match the complete path; with a leading `!`, none may
 * match.
 */
function compileGlob(glob: string, user: string): PathExpression {
  const negated = glob.startsWith("!");
  const alternatives = (negated ? glob.slice(1) : glob).split(" | ").map((text) => compileAlternative(text, user));
  return {
    steps: alternatives.reduce((sum, { steps }) => sum + steps, 0),
    matches: (path) => alternatives.some(({ matches }) => matches(path)) !== negated,
  };
}

function compileAlternative(glob: string, user: string): PathExpression {
  if (glob === "") throw new SyntaxError("the glob, or an alternative in it, is empty");
  const literal = glob.includes(USER) ? undefined : compileLiteralGlob(glob);
  if (literal !== undefined) {
    return { steps: Math.ceil(glob.length / LITERAL_CHARACTERS_PER_STEP), matches: ({ lower }) => literal(lower) };
  }
  const compiled = compile(`^(?:${translateGlob(glob, user)})$`, RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL);
  const wider = compileLiteralGlob(glob.replaceAll(USER, "*").replace(ONE_CHARACTER, "*"));
  return {
    steps: compiled.programSize(),
    matches: ({ text, lower }) => wider?.(lower) !== false && isFoundIn(text, compiled),
  };
}

/**
 * One part of a glob: `${USER}`, `*`, `?`, a class, or one literal character. A `]` right at the start of a class is
 * literal. A class that is not closed extends to the end of the glob. Otherwise an attacker could cause quadratic time:
 * a `]` would be searched for from every `[`.
 */
const GLOB_PART = /(\$\{USER\})|(\*)|(\?)|\[(!?)(\]?[^\]]*)(\]|$)|(.)/gsu;

/** A part that matches one character. With `*` in its place, a glob matches more, but a mismatch is found quickly. */
const ONE_CHARACTER = /\?|\[!?\]?[^\]]*\]/g;

function translateGlob(glob: string, user: string): string {
  return glob.replace(GLOB_PART, (_, userName, star, question, negation, members, end, character) => {
    if (userName !== undefined) return exactly(user);
    if (star !== undefined) return ".*";
    if (question !== undefined) return ".";
    if (members !== undefined) return translateClass(members, negation === "!", end);
    return RE2JS.quote(character);
  });
}

/** A class, or quoted text, that may hold the account's name: there it cannot keep its case. */
const UNCLEAR_USER = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\$\{USER\}|\\Q/;

/** A flag that makes a part of a regular expression ignore case, such as `(?i)` or `(?si:`. */
const CASE_FLAG = /\(\?[msU]*i/;

function withUser(regex: string, ignoresCase: boolean, user: string): string {
  if (!regex.includes(USER)) return regex;
  if (!UNCLEAR_USER.test(regex)) return regex.replaceAll(USER, () => exactly(user));
  if (ignoresCase || CASE_FLAG.test(regex)) {
    throw new SyntaxError("the expression ignores case and has a class or quoted text next to the user name");
  }
  return regex.replaceAll(USER, () => RE2JS.quote(user));
}

/** A part of a regular expression that matches this text, and no other spelling of it. */
function exactly(text: string): string {
  return `(?-i:${RE2JS.quote(text)})`;
}

/** Translates the characters and ranges of a class, such as `[a-z]`, `[!x]` or `[*]`. */
function translateClass(members: string, negated: boolean, end: string): string {
  if (end === "") throw new SyntaxError("the glob has a class without its end");
  return `[${negated ? "^" : ""}${members.replace(/[\\[\]^]/g, "\\$&")}]`;
}

function compile(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (cause) {
    throw new SyntaxError("the expression is not valid", { cause });
  }
}

/**
 * Whether a regular expression matches anywhere in a text. `RE2JS.test` would build an automaton while it reads: that
 * is faster for most expressions, but three times as slow for the worst ones, and keeps up to 8 MiB for each.
 */
function isFoundIn(text: string, compiled: RE2JS): boolean {
  return compiled.re2().findIndex(text) !== null;
}
