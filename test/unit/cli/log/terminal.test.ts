import { describe, expect, it } from "vitest";
import { createTerminalLogger, escapeText } from "../../../../src/cli/log/terminal.ts";

describe("escapeText", () => {
  it.each([
    ["/home/a%20b.txt", "/home/a%20b.txt"],
    ["a\r\nGET /forged 200", "a\\x0d\\x0aGET /forged 200"],
    ["\u001b[31m", "\\x1b[31m"],
    ["\u009b31m\u007f", "\\x9b31m\\x7f"],
    ["\\x0a", "\\\\x0a"],
    ["é€😀", "\\xe9\\u{20ac}\\u{1f600}"],
  ])("converts %j to printable ASCII", (text, escaped) => {
    expect(escapeText(text)).toBe(escaped);
  });
});

describe("createTerminalLogger", () => {
  function log(use: (logger: ReturnType<typeof createTerminalLogger>) => void, quiet = false): string {
    let printed = "";
    const output = {
      write(text: string): boolean {
        printed += text;
        return true;
      },
    };
    use(createTerminalLogger(output as never, { quiet }));
    return printed;
  }

  it("prints one line per message, with details as JSON", () => {
    expect(log((logger) => logger.info({ file: "a\nb\u009b" }, "Read."))).toBe('info: Read. {"file":"a\\nb\\u009b"}\n');
    expect(log((logger) => logger.warn({}, "Careful."))).toBe("warning: Careful.\n");
  });

  it("shows errors with their causes on the same line", () => {
    const error = new Error("outer", { cause: new Error("inner\nline") });
    const line = log((logger) => logger.error({ error }, "It failed."));
    expect(line).toMatch(/^error: It failed\. [^\n]*outer[^\n]*inner\\nline[^\n]*\n$/);
  });

  it("does not fail on details that JSON cannot hold", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(log((logger) => logger.error(cycle, "Odd."))).toBe("error: Odd.\n");
  });

  it("prints only warnings and errors if quiet", () => {
    expect(log((logger) => logger.info({}, "Read."), true)).toBe("");
    expect(log((logger) => logger.error({}, "Broken."), true)).toBe("error: Broken.\n");
  });
});
