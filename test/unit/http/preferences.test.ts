import fc from "fast-check";
import { expect, it } from "vitest";
import { prefersNameOrder } from "../../../src/http/preferences.ts";

function request(prefer: string): Request {
  return new Request("http://files.example/", { headers: { prefer } });
}

it("no value of Prefer makes the service throw, and none without the text order=name is the preference", () => {
  const text = fc.string({ unit: fc.constantFrom("order", "name", "=", ",", ";", '"', "\\", " ", "x"), maxLength: 30 });
  fc.assert(
    fc.property(text, (value) => {
      if (prefersNameOrder(request(value))) expect(value.replaceAll(/[" ]/g, "")).toContain("order=name");
    }),
  );
});

it("a long value is read in linear time", () => {
  expect(prefersNameOrder(request('"\\'.repeat(100_000)))).toBe(false);
  expect(prefersNameOrder(request(`${"a,".repeat(100_000)}order=name`))).toBe(true);
});
