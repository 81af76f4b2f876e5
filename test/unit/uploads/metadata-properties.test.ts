import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isHttpError } from "../../../src/http/http-error.ts";
import { readMetadata } from "../../../src/uploads/metadata-header.ts";
import { amount } from "../../support/trust.ts";

const RULES = { header: "X-Labels", isRequired: false } as const;

type Item = readonly [key: string, value: string];

/** As a field has it over HTTP: the bytes of UTF-8, one character each. */
function toField(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function read(text: string): Readonly<Record<string, readonly string[]>> | "refused" {
  try {
    return readMetadata(new Headers({ "x-labels": toField(text) }), RULES) ?? {};
  } catch (error) {
    if (isHttpError(error) && error.failure === "malformed") return "refused";
    throw error;
  }
}

function collect(items: readonly Item[]): Readonly<Record<string, readonly string[]>> {
  const values = new Map<string, string[]>();
  for (const [key, value] of items) values.set(key, [...(values.get(key) ?? []), value]);
  return Object.fromEntries(values);
}

/**
 * Reads character by character (RFC 4180): fields between commas, doubled quotes in quoted ones, blanks around them
 * ignored.
 */
function readPlainly(text: string): Readonly<Record<string, readonly string[]>> | "refused" {
  if (text.trim() === "") return {};
  const items: Item[] = [];
  for (let rest: string | undefined = text; rest !== undefined; ) {
    const trimmed: string = rest.replace(/^[ \t]*/, "");
    const [field, after] = trimmed.startsWith('"') ? takeQuoted(trimmed) : takePlain(trimmed);
    const mark = field.indexOf("=");
    if (mark < 1 || !/^(?:,|$)/.test(after)) return "refused";
    items.push([field.slice(0, mark), field.slice(mark + 1)]);
    rest = after === "" ? undefined : after.slice(1);
  }
  return collect(items);
}

/** A quoted field and the text after it. A quote that does not end is no field. */
function takeQuoted(text: string): readonly [field: string, after: string] {
  let field = "";
  for (let at = 1; at < text.length; at += 1) {
    const isDoubled = text[at] === '"' && text[at + 1] === '"';
    if (text[at] === '"' && !isDoubled) return [field, text.slice(at + 1).replace(/^[ \t]*/, "")];
    field += text[at];
    if (isDoubled) at += 1;
  }
  return ["", ""];
}

function takePlain(text: string): readonly [field: string, after: string] {
  const [field = ""] = text.split(/[,"]/, 1);
  return [field.trimEnd(), text.slice(field.length)];
}

const letter = fc.constantFrom("a", "B", "-", "=", ",", '"', " ", "é", "😀", "_", "__proto__");
const key = fc.string({ unit: fc.constantFrom("a", "b", "-", "é", "constructor"), minLength: 1, maxLength: 3 });
const value = fc.string({ unit: letter, maxLength: 6 });

describe("the metadata of an upload (4.4, CONTRACT 5)", () => {
  it("comes back as it was written: any keys and values, quoted, with blanks between them", () => {
    const gap = fc.constantFrom("", " ", "  \t");
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 6 }), gap, gap, (items, before, after) => {
        const text = items.map((item) => `${before}"${item.join("=").replaceAll('"', '""')}"${after}`).join(",");
        expect(read(text)).toEqual(collect(items));
      }),
      { numRuns: amount({ short: 250, long: 1000 }) },
    );
  });

  it("of any text is what a reading letter by letter finds, or refused like there", () => {
    fc.assert(
      fc.property(fc.string({ unit: letter, maxLength: 24 }), (text) => {
        // Platforms cut the blanks around a field's value.
        const sent = text.trim();
        expect([sent, read(sent)]).toEqual([sent, readPlainly(sent)]);
      }),
      { numRuns: amount({ short: 1000, long: 5000 }) },
    );
  });
});
