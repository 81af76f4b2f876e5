import { expect, it } from "vitest";
import { apiCheckOf } from "../support/openapi/api-check.ts";
import { takeProblems } from "../support/openapi/noted-problems.ts";
import { playEverything } from "./drift-exchanges.ts";
import { createDriftWorld } from "./drift-world.ts";

it("the service does what its description says, and nothing else (1.3, 9)", async () => {
  const world = await createDriftWorld();
  const { text } = await world.call("GET", "/__svc__/openapi.json", { as: null });
  const { unseen } = apiCheckOf(text, { vocabulary: ["X-Labels"] });
  await playEverything(world, JSON.parse(text));
  expect([...new Set(takeProblems())]).toEqual([]);
  expect(unseen()).toEqual([]);
}, 300_000);
