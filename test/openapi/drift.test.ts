import { expect, it } from "vitest";
import { apiCheckOf } from "../support/openapi/api-check.ts";
import { takeProblems } from "../support/openapi/noted-problems.ts";
import { createDriftEnvironment } from "./drift-environment.ts";
import { playEverything } from "./drift-exchanges.ts";

it("the service does what its description says, and nothing else (1.3, 9)", async () => {
  const environment = await createDriftEnvironment();
  const { text } = await environment.call("GET", "/__svc__/openapi.json", { as: null });
  const { unseen } = apiCheckOf(text, { vocabulary: ["X-Labels"] });
  await playEverything(environment, JSON.parse(text));
  expect([...new Set(takeProblems())]).toEqual([]);
  expect(unseen()).toEqual([]);
}, 300_000);
