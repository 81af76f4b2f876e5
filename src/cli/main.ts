#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";

// Collects garbage of requests before the process grows (docs/decisions/0007-memory.md). The flags are set before the
// program is loaded, because loading it would already let the young generation grow.
setFlagsFromString("--semi-space-growth-factor=1");
setFlagsFromString("--heap-growing-percent=50");
const { run } = await import("./program.ts");

// If the reader of our output has disconnected, transfers go on.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2));
