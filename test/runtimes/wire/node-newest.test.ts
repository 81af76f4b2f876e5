import { wireRuntimes } from "./runtimes.ts";
import { describeRuntime } from "./suite.ts";

describeRuntime(wireRuntimes["node-newest"]);
