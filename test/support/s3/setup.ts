import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { stopGateway } from "./gateway.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the store of all test files lives, once one of them has started it. */
    s3Folder: string;
  }
}

/** Gives the test files a folder for the store that they share; ends what they have started in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-s3-"));
  project.provide("s3Folder", folder);
  return async () => {
    await stopGateway(folder);
    await rm(folder, { recursive: true, force: true });
  };
}
