/** The version of this package, as in its `package.json` (held by a test). */
export const VERSION = "0.1.0";
