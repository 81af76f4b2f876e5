import { expect, it } from "vitest";
import { createSecretComparison } from "../../../src/platform/constant-time.ts";

it.each([
  ["secret", true],
  ["secreT", false],
  ["Secret", false],
  ["secret ", false],
  ["", false],
])("a text is the secret or is not: %j, again and again", async (given, isSame) => {
  const compare = createSecretComparison("secret");
  for (let time = 0; time < 3; time++) expect(await compare(given)).toBe(isSame);
});
