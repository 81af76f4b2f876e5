#!/usr/bin/env node
import { limitHeapGrowth } from "./heap.ts";

limitHeapGrowth();
// Before the first schema is made, as each reads the setting when it is made.
await import("./jitless.ts");
const { run } = await import("./program.ts");

// If the reader of our output has disconnected, transfers go on.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2));
