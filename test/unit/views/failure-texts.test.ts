import { describe, expect, it } from "vitest";
import { createError, ERRORS, type ErrorCode } from "../../../src/http/errors.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { ENGLISH } from "../../../src/views/texts/english.ts";
import { GERMAN } from "../../../src/views/texts/german.ts";
import { BUILT_IN, toErrorText } from "../../../src/views/texts.ts";

const CODES = Object.keys(ERRORS) as readonly ErrorCode[];

function placeholders(text: string | undefined): readonly string[] {
  return (text?.match(/\{\w+\}/g) ?? []).sort();
}

describe("the texts of errors", () => {
  it("are sentences", () => {
    for (const code of CODES) expect(ERRORS[code][1], code).toMatch(/^(?:[A-Z]|\{).*\.$/);
  });

  it("all exist in the other languages, with no other placeholders than in English", () => {
    for (const { language, failures } of BUILT_IN) {
      if (language !== "en") expect(Object.keys(failures).sort()).toEqual([...CODES].sort());
      for (const [code, text] of Object.entries(failures)) {
        expect(placeholders(ERRORS[code as ErrorCode]?.[1]), code).toEqual(
          expect.arrayContaining([...placeholders(text)]),
        );
      }
    }
  });
});

describe("toErrorText", () => {
  it("translates an error by its code", () => {
    expect(toErrorText(GERMAN, createError("not-found"))).toBe("Nicht gefunden.");
    expect(toErrorText(ENGLISH, createError("not-found"))).toBe("Not found.");
  });

  it("says what to do about a form that is too large", () => {
    const error = createError("form-too-many-parts", { values: { max: 1000 } });
    expect(toErrorText(ENGLISH, error)).toMatch(/^Select fewer items at a time: .* 1000 /);
    expect(toErrorText(GERMAN, error)).toMatch(/^Wählen Sie weniger .* 1000 /);
  });

  it("keeps the values, also those that look like placeholders", () => {
    expect(toErrorText(GERMAN, createError("internal", { values: { id: "4f-{id}$&" } }))).toBe(
      "Interner Fehler 4f-{id}$&.",
    );
  });

  it("shows the host's own words, also under a code of the service", () => {
    expect(toErrorText(GERMAN, new HttpError("denied", "Ask Bob."))).toBe("Ask Bob.");
    for (const code of ["constructor", "virus-found"]) {
      expect(toErrorText(GERMAN, new HttpError("denied", "Ask Bob.", {}, { code }))).toBe("Ask Bob.");
    }
  });

  it("translates an error of the host by the host's code and text", () => {
    const texts = { ...GERMAN, failures: { ...GERMAN.failures, "virus-found": "Virus gefunden: {name}." } };
    const error = new HttpError("unprocessable", "A virus: x.", {}, { code: "virus-found", values: { name: "x" } });
    expect(toErrorText(texts, error)).toBe("Virus gefunden: x.");
  });
});

describe("HttpError", () => {
  it("has its failure as code by default, and takes no code that is not one", () => {
    expect(new HttpError("denied", "No.").code).toBe("denied");
    for (const code of ["", "A", "a b", "a\r\nX: 1", "-a", "ä"]) {
      expect(() => new HttpError("denied", "No.", {}, { code }), code).toThrow(TypeError);
    }
  });
});
