import { describe, expect, it } from "vitest";
import { checkOption, OptionError } from "../../../src/contracts/option-error.ts";

describe("checkOption", () => {
  it("throws a TypeError that has the option and what it must be, if the condition does not hold", () => {
    const check = () => checkOption(false, "limits.maxFileBytes", "a whole number");
    expect(check).toThrow(TypeError);
    expect(check).toThrow(OptionError);
    expect(check).toThrow(
      expect.objectContaining({
        name: "OptionError",
        option: "limits.maxFileBytes",
        expected: "a whole number",
        message: "The option limits.maxFileBytes must be a whole number.",
      }),
    );
  });

  it("does nothing if the condition holds", () => {
    expect(() => checkOption(true, "limits", "an object")).not.toThrow();
  });
});
