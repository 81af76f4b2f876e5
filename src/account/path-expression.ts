import { RE2JS } from "re2js";
import { compileLiteralGlob } from "./literal-glob.ts";

/** A virtual path (`/` and its segments, without a trailing `/`), as many expressions are asked about it. */
export interface SubjectPath {
  readonly text: string;
  /** The path in lower case; only where it is ASCII. */
  readonly lower: string | undefined;
}

/** Whether an expression names a path. */
export type PathMatcher = (path: SubjectPath) => boolean;

/**
 * Steps of a compiled expression at most: each character of a path may cost as many, and a path may have thousands. `(?:a?){1000}a{1000}`
 * would hold up all other requests for a third of a second.
 */
const MAX_STEPS = 1000;

/** Stands for the account's encoded name in an expression. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: that is how the configuration spells it.
const USER = "${USER}";

/** An expression may come from a remote endpoint: reading one must not take long either. */
const MAX_EXPRESSION = 4096;

/** Prepares a path for matchers. */
export function toSubject(path: string): SubjectPath {
  return { text: path, lower: /^[ -~]*$/.test(path) ? path.toLowerCase() : undefined };
}

/**
 * Compiles a path expression (CONTRACT 7.5): a glob, alone or as `g/glob/`; or a regular expression, `m/regex/` to search and
 * `e/regex/` to exclude, either with `i` behind it for any case. `${USER}` in it stands for `user`, literally. Both kinds run in
 * linear time, whatever the pattern and the path (RE2).
 * @throws SyntaxError for an expression that is none, or one of more than 1,000 steps.
 */
export function compilePathExpression(expression: string, user: string): PathMatcher {
  if (expression.length > MAX_EXPRESSION) throw new SyntaxError("The expression is too long.");
  const [, kind, body = "", flags = ""] = /^([gme])\/(.*)\/([^/]*)$/s.exec(expression) ?? [];
  if (kind === undefined) {
    if (/^[gme]\//.test(expression)) throw new SyntaxError("the expression has no closing slash");
    return compileGlob(expression, user);
  }
  if (flags !== "" && (kind === "g" || flags !== "i")) throw new SyntaxError("what follows the last slash is not i");
  return kind === "g" ? compileGlob(body, user) : compileRegex(body, flags === "i", user, kind === "e");
}

function compileRegex(regex: string, ignoresCase: boolean, user: string, negated: boolean): PathMatcher {
  if (regex === "") throw new SyntaxError("the regular expression is empty");
  const compiled = compile(
    regex.replaceAll(USER, () => RE2JS.quote(user)),
    ignoresCase ? RE2JS.CASE_INSENSITIVE : 0,
  );
  return ({ text }) => compiled.test(text) !== negated;
}

/** The whole path matches, in any case: one of the alternatives, or none of them behind a leading `!`. */
function compileGlob(glob: string, user: string): PathMatcher {
  const negated = glob.startsWith("!");
  const alternatives = (negated ? glob.slice(1) : glob).split(" | ").map((text) => compileAlternative(text, user));
  return (path) => alternatives.some((matches) => matches(path)) !== negated;
}

function compileAlternative(glob: string, user: string): PathMatcher {
  if (glob === "") throw new SyntaxError("the glob, or an alternative in it, is empty");
  const compiled = compile(`^(?:${translateGlob(glob, user)})$`, RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL);
  const own = glob.replaceAll(USER, () => user.replace(/[*?[]/g, "[$&]"));
  const literal = compileLiteralGlob(own);
  if (literal !== undefined) return ({ text, lower }) => (lower === undefined ? compiled.test(text) : literal(lower));
  const wider = compileLiteralGlob(own.replace(ONE_CHARACTER, "*"));
  return ({ text, lower }) => (lower === undefined || wider?.(lower) !== false) && compiled.test(text);
}

/**
 * A glob's parts: `${USER}`, `*`, `?`, a class (a `]` right at its beginning stands for itself), or one character as it is. A class without
 * its end goes on to the glob's: looking for a `]` from every `[` anew would take quadratic time.
 */
const GLOB_PART = /(\$\{USER\})|(\*)|(\?)|\[(!?)(\]?[^\]]*)(\]|$)|(.)/gsu;

/** A part that stands for one character. A glob with `*` in its place is wider, and quick to find unfit. */
const ONE_CHARACTER = /\?|\[!?\]?[^\]]*\]/g;

function translateGlob(glob: string, user: string): string {
  return glob.replace(GLOB_PART, (_, userName, star, question, negation, members, end, character) => {
    if (userName !== undefined) return RE2JS.quote(user);
    if (star !== undefined) return ".*";
    if (question !== undefined) return ".";
    if (members !== undefined) return translateClass(members, negation === "!", end);
    return RE2JS.quote(character);
  });
}

/** `[a-z]`, `[!x]`, `[*]`: characters and ranges of them. */
function translateClass(members: string, negated: boolean, end: string): string {
  if (end === "") throw new SyntaxError("the glob has a class without its end");
  return `[${negated ? "^" : ""}${members.replace(/[\\[\]^]/g, "\\$&")}]`;
}

function compile(pattern: string, flags: number): RE2JS {
  const compiled = parse(pattern, flags);
  if (compiled.programSize() > MAX_STEPS) throw new SyntaxError("the expression is too large");
  return compiled;
}

function parse(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (cause) {
    throw new SyntaxError("the expression is not valid", { cause });
  }
}
