// Removes the folder of the previous build, which is the argument.
import { rm } from "node:fs/promises";

const [, , built = "dist"] = process.argv;

await rm(built, { recursive: true, force: true });
