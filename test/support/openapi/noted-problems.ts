import { afterEach, expect } from "vitest";

/** The differences between services and their descriptions that this test has shown. */
const noted: string[] = [];

/** Makes the running test fail. */
export function noteProblems(problems: readonly string[]): void {
  noted.push(...problems);
}

/** Returns the problems so far. The test no longer fails because of them. */
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
