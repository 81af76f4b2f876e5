import { expect, it } from "vitest";
import { preferredLanguage } from "../../../src/http/accept-language.ts";

it.each([
  ["de", "de"],
  ["DE-at", "de"],
  ["de;q=0.5, en", "en"],
  ["fr, de;q=0.1", "de"],
  ["fr", undefined],
  ["", undefined],
  [`${"fr,".repeat(166)}de`, "de"],
  [`${"fr,".repeat(167)}de`, undefined],
])("%.30s asks for %s of English and German (RFC 9110 12.5.4)", (acceptLanguage, language) => {
  expect(preferredLanguage(acceptLanguage, ["en", "de"])).toBe(language);
});
