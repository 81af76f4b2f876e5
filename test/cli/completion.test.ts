import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";

const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;

async function complete(words: readonly string[]): Promise<readonly string[]> {
  const file = join(await makeFolder(), "completion");
  await writeFile(file, (await runInProcess(["completion", "bash"])).stdout);
  const script = `. "${file}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fileferry; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script, "bash", "fileferry", ...words], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

describe("fileferry completion", () => {
  it.runIf(has("bash"))("completes commands and flags in bash", async () => {
    expect(await complete(["se"])).toEqual(["serve"]);
    expect(await complete(["trash", ""])).toEqual(expect.arrayContaining(["list", "restore", "purge", "sweep"]));
    expect(await complete(["trash", "restore", "--"])).toEqual(["--config", "--to", "--help"]);
    expect(await complete(["serve", "./files", "--log"])).toEqual(["--log-format", "--log-file"]);
    // The names of files follow.
    expect(await complete(["serve", "--config", ""])).toEqual([]);
  });

  it.each(["bash", "zsh", "fish"])("writes a script that %s reads", async (shell) => {
    const { status, stdout } = await runInProcess(["completion", shell]);
    expect(status).toBe(0);
    expect(stdout).toContain("check-auth-endpoint");
    if (!has(shell)) return;
    const { stderr } = spawnSync(shell, ["-n"], { input: stdout, encoding: "utf8" });
    expect(stderr).toBe("");
  });

  it("completes at once in zsh, which reads the script at the first completion", async () => {
    const { stdout } = await runInProcess(["completion", "zsh"]);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(
      `if [ "\${funcstack[1]}" = _fileferry ]; then _bash_complete -o default -F _fileferry; fi`,
    );
  });

  it("refuses other shells", async () => {
    expect(await runInProcess(["completion", "tcsh"])).toMatchObject({ status: 2 });
  });
});
