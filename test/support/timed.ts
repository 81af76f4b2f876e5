/**
 * Whether the sources are mutants of `npm run mutants`. They count their steps and run side by side, so measured times
 * say nothing. A test must not take a slow run for a changed result.
 */
export const areMutants = process.env.MUTANTS_OF !== undefined;
