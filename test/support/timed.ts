/**
 * Whether the sources are mutants, which `npm run mutants` tries: they count what they do and run beside each other, so
 * what measures time says nothing then, and must not look as if it had noticed a change.
 */
export const areMutants = process.env.MUTANTS_OF !== undefined;
