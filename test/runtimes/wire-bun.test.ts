import { wireRuntimes } from "./wire-runtimes.ts";
import { describeRuntime } from "./wire-suite.ts";

describeRuntime(wireRuntimes.bun);
