import { afterEach, describe, expect, it, vi } from "vitest";
import { readFieldText } from "../../../src/http/header-text.ts";

it.each([
  ["", ""],
  ["a b", "a b"],
  ["zo\u00c3\u00ab", "zo\u00eb"],
  ["\u00f0\u009f\u0098\u0080", "\u{1f600}"],
  ["\u00ef\u00bb\u00bfa", "\ufeffa"],
  ["\u00ef\u00bf\u00bd", "\ufffd"],
  ["zo\u00eb", undefined],
  ["\u00c3", undefined],
])("a field of the bytes %j is the text %j", (value, text) => {
  expect(readFieldText(value)).toBe(text);
});

describe("a runtime", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  /** The function of a runtime whose `Headers` are these. */
  async function readIn(headers: typeof Headers): Promise<typeof readFieldText> {
    vi.stubGlobal("Headers", headers);
    vi.resetModules();
    return (await import("../../../src/http/header-text.ts")).readFieldText;
  }

  it("that decodes fields as UTF-8 gives the text as it is, unless it was no UTF-8", async () => {
    class Decoding {
      readonly #fields: ReadonlyMap<string, string>;
      constructor(fields: [string, string][]) {
        this.#fields = new Map(fields);
      }
      get(name: string): string | null {
        return this.#fields.get(name) ?? null;
      }
    }
    const read = await readIn(Decoding as unknown as typeof Headers);
    expect(read("zo\u00eb \u0100")).toBe("zo\u00eb \u0100");
    expect(read("zo\u00c3\u00ab")).toBe("zo\u00c3\u00ab");
    expect(read("a\ufffdb")).toBeUndefined();
  });

  it.each([
    ["refuses text", "get"],
    ["gives something else", "other"],
  ])("that %s has the bytes of a field", async (_, kind) => {
    class Bytes {
      get(): string {
        if (kind === "get") throw new TypeError("Not a byte string");
        return "?";
      }
    }
    const read = await readIn(Bytes as unknown as typeof Headers);
    expect(read("zo\u00c3\u00ab")).toBe("zo\u00eb");
    expect(read("zo\u00eb")).toBeUndefined();
  });
});
