#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";

// The bytes of files lie outside V8's heap, and go when their small holders in it are collected: a young generation that stays small
// has them go early (docs/decisions/0007-memory.md). Said before the program is loaded, which would let it grow.
setFlagsFromString("--max-semi-space-size=2");
setFlagsFromString("--semi-space-growth-factor=1");
const { run } = await import("./program.ts");

// Whoever read our output may have gone: that ends no transfer.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2));
