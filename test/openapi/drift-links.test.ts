import { expect, it } from "vitest";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { LINK_SECRET } from "../support/links.ts";
import { apiCheckOf } from "../support/openapi/api-check.ts";
import { type ApiDocument, toOperations } from "../support/openapi/document.ts";
import { takeProblems } from "../support/openapi/noted-problems.ts";
import { quickHasher } from "../support/quick-hasher.ts";
import { createDriftEnvironment } from "./drift-environment.ts";
import { isOfLinks, playLinks } from "./drift-links.ts";

it("links do what the description says, and nothing else (SHARING 11.6)", async () => {
  const environment = await createDriftEnvironment({
    links: { secret: LINK_SECRET, store: createMemoryKeyValueStore(), passwordHasher: quickHasher },
  });
  const { text } = await environment.call("GET", "/__svc__/openapi.json", { as: null });
  const { unseen } = apiCheckOf(text, { vocabulary: ["X-Labels"] });
  const operations = [...toOperations(JSON.parse(text) as ApiDocument).values()].filter(isOfLinks);
  expect(operations.length).toBeGreaterThan(20);
  await playLinks(environment, operations);
  // A token is of no interest, and as long as a line.
  const problems = takeProblems().map((problem) => problem.replace(/share\/[^/ ]+/, "share/{token}"));
  expect([...new Set(problems)]).toEqual([]);
  const missed = unseen().filter((key) =>
    operations.some(({ name }) => key.startsWith(`${name} `) || key.startsWith(`${name}:`)),
  );
  expect(missed.filter(isRequired)).toEqual([]);
}, 300_000);

/**
 * What requests must have shown of links. Not the failures of storages and stores, which another test shows of the same
 * endpoints; of the URLs of owners the successes, as they are refused like any URL of an account.
 */
function isRequired(key: string): boolean {
  if (!key.includes("/__svc__/share/")) return / -> [23]\d\d /.test(key);
  return !/ -> (?:400|412|5\d\d)[ :]|: multipart\/form-data: (?:new-name|destination|sender)$/.test(key);
}
