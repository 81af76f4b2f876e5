#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";

// What requests leave behind is collected before the process has grown by it (docs/decisions/0007-memory.md). Said before the program is loaded,
// which would let the young generation grow.
setFlagsFromString("--semi-space-growth-factor=1");
setFlagsFromString("--heap-growing-percent=50");
const { run } = await import("./program.ts");

// Whoever read our output may have gone: that ends no transfer.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2));
