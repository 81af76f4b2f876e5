import { afterEach, expect } from "vitest";

/** What the description of a service and what it did had of each other to say, in this test. */
const noted: string[] = [];

/** Has the test fail that runs. */
export function noteProblems(problems: readonly string[]): void {
  noted.push(...problems);
}

/** What was noted, which the test does not fail of any more. */
export function takeProblems(): readonly string[] {
  return noted.splice(0);
}

/** Fails each test of a file that has noted problems, also when it is tried again. Call it once per file. */
export function failForProblems(): void {
  noted.length = 0;
  const found = new Map<string, readonly string[]>();
  afterEach(({ task }) => {
    const problems = [...(found.get(task.id) ?? []), ...takeProblems()];
    found.set(task.id, problems);
    expect([...new Set(problems)], "where the service is not as its OpenAPI document says").toEqual([]);
  });
}
