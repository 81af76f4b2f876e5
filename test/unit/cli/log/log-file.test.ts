import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLogOutput } from "../../../../src/cli/log/log-file.ts";
import { makeFolder } from "../../../support/built.ts";

const nowhere = { write: () => expect.unreachable() };

describe("the log in a file", () => {
  it("goes on in the file that was moved if the path cannot be opened again, and says why", async () => {
    const folder = join(await makeFolder(), "log");
    await rename(await makeFolder(), folder);
    const output = createLogOutput(nowhere);
    output.useFile(join(folder, "a.log"));
    output.write("1\n");
    await rename(folder, `${folder}-moved`);
    expect(output.reopen()).toBe("does not exist");
    output.write("2\n");
    expect(await readFile(join(`${folder}-moved`, "a.log"), "utf8")).toBe("1\n2\n");
    await rename(`${folder}-moved`, folder);
    await rm(join(folder, "a.log"));
    expect(output.reopen()).toBeUndefined();
    output.write("3\n");
    expect(await readFile(join(folder, "a.log"), "utf8")).toBe("3\n");
  });
});
