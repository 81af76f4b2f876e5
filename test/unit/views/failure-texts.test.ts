import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { ENGLISH } from "../../../src/views/texts/english.ts";
import { GERMAN } from "../../../src/views/texts/german.ts";
import { toFailureText } from "../../../src/views/texts.ts";
import { projectFolder } from "../../support/built.ts";

/** Files that create no error responses of this service: other processes, and hosts of other protocols. */
const ELSEWHERE = /^(?:cli|testing|runtimes|remote-auth|browser|storage)\/|^service\/account-opener\.ts$/;

/** Files whose texts reach clients without an HttpError. All sentences in them count. */
const SENTENCES = [
  "endpoints/login/unauthorized.ts",
  "endpoints/folders/post-form.ts",
  "endpoints/folders/member-outcomes.ts",
  "request/errors.ts",
  "auth/passwords/policy.ts",
  "auth/passwords/update.ts",
];

let messages: readonly string[];

beforeAll(async () => {
  const source = join(projectFolder, "src");
  const names = (await readdir(source, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const own = names.filter((name) => !ELSEWHERE.test(name) && !name.startsWith("views/"));
  const found = await Promise.all(
    own.map(async (name) => collectMessages(name, await readFile(join(source, name), "utf8"))),
  );
  messages = [...new Set(found.flat())].sort();
});

/** The messages in a file that a page may show. `{0}`, `{1}` ... stand for the expressions of a template. */
function collectMessages(name: string, text: string): readonly string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];

  function visit(node: ts.Node): void {
    if (ts.isNewExpression(node) && node.expression.getText() === "HttpError") {
      const message = toMessage(node.arguments?.[1]);
      if (message !== undefined) found.push(message);
    }
    if (SENTENCES.includes(name)) {
      const message = toMessage(node);
      if (message !== undefined && /^[A-Z].*\.$/.test(message)) found.push(message);
    }
    ts.forEachChild(node, visit);
  }

  visit(file);
  return found;
}

/** The text of a literal. `{0}`, `{1}` ... stand for the expressions of a template. */
function toMessage(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }, index) => `{${index}}${literal.text}`).join("");
}

describe("the messages of failures", () => {
  it("are found in the source", () => {
    expect(messages).toContain("Not found.");
    expect(messages).toContain("Internal error {0}.");
    expect(messages).toContain("The new password must have at least {0} characters.");
    expect(messages).toContain("The user name or password is wrong.");
    expect(messages.length).toBeGreaterThan(40);
  });

  it("all have a German text, also those that a template produces", () => {
    const keys = Object.keys(GERMAN.failures);
    const missing = messages.filter((message) => !keys.some((key) => key === message || isFrom(key, message)));
    expect(missing).toEqual([]);
  });

  it("have German texts with no other placeholders than the English ones", () => {
    for (const [english, german] of Object.entries(GERMAN.failures)) {
      expect(placeholders(english), english).toEqual(expect.arrayContaining([...placeholders(german)]));
    }
  });

  it("have no German text for a message that does not exist", () => {
    const keys = Object.keys(GERMAN.failures);
    const unknown = keys.filter((key) => !messages.some((message) => key === message || isFrom(key, message)));
    expect(unknown).toEqual([]);
  });
});

/** Whether a template can produce a message. */
function isFrom(message: string, template: string): boolean {
  const parts = template.split(/\{\d+\}/);
  const isTemplate = parts.length > 1 && !message.includes("{");
  return isTemplate && message.startsWith(parts[0] ?? "") && message.endsWith(parts.at(-1) ?? "");
}

function placeholders(text: string): readonly string[] {
  return (text.match(/\{\d+\}/g) ?? []).sort();
}

describe("toFailureText", () => {
  it("translates a fixed message", () => {
    expect(toFailureText(GERMAN, "Not found.")).toBe("Nicht gefunden.");
    expect(toFailureText(ENGLISH, "Not found.")).toBe("Not found.");
  });

  it("says what to do about a form that is too large", () => {
    expect(toFailureText(ENGLISH, "The form has more than 1000 parts.")).toMatch(
      /^Select fewer items at a time: .* 1000 /,
    );
    expect(toFailureText(GERMAN, "The form has more than 1000 parts.")).toMatch(/^Wählen Sie weniger .* 1000 /);
  });

  it("keeps the values in a message", () => {
    expect(toFailureText(GERMAN, "Internal error 4f-2a.")).toBe("Interner Fehler 4f-2a.");
    expect(toFailureText(GERMAN, "The new password must have at least 14 characters.")).toContain("14");
  });

  it("returns an unknown message unchanged, also names of object properties", () => {
    for (const message of ["Ask Bob.", "__proto__", "constructor", "", "Internal error", "{0}"]) {
      expect(toFailureText(GERMAN, message)).toBe(message);
    }
  });

  it("does not replace placeholders in values", () => {
    expect(toFailureText(GERMAN, "Internal error {0}{1}.")).toBe("Interner Fehler {0}{1}.");
  });
});
