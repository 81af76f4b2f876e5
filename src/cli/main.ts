#!/usr/bin/env node
import { run } from "./program.ts";

// Whoever read our output may have gone: that ends no transfer.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2));
