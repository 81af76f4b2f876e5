import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";

const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;
/** Why a test is skipped here, as a part of its name. */
const note = (shell: string): string => (has(shell) ? "" : ` (skipped: ${shell} is not installed)`);

/** How each shell completes words with a script of ours: `bash` and `zsh` by its function, `fish` by itself. */
const RUNS: Readonly<Record<string, (file: string, words: readonly string[]) => readonly string[]>> = {
  bash: (file, words) => [
    ...["-c", `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fileferry; printf '%s\\n' "\${COMPREPLY[@]}"`],
    ...[file, "fileferry", ...words],
  ],
  // With the options that bashcompinit calls the function with. What compinit finds, in seconds, is kept for the next.
  zsh: (file, words) => [
    ...["-f", "-c"],
    `autoload -U compinit; compinit -u -d "$0.dump"; . "$0"
     emulate sh; setopt kshglob noshglob braceexpand ksharrays
     COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fileferry; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ...[file, "fileferry", ...words],
  ],
  fish: (file, words) => ["--no-config", "-c", `source $argv[1]; complete -C "$argv[2]"`, file, toLine(words)],
};

const toLine = (words: readonly string[]): string => ["fileferry", ...words].join(" ");

async function write(shell: string): Promise<string> {
  const { status, stdout, stderr } = await runInProcess(["completion", shell]);
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

/** Saves the script of a shell. Returns its path. */
async function save(shell: string): Promise<string> {
  const file = join(await makeFolder(), "completion");
  await writeFile(file, await write(shell));
  return file;
}

/** The words that a shell offers for the last of some words, without what fish says of them. */
function complete(shell: string, file: string, words: readonly string[]): readonly string[] {
  const { stdout, stderr } = spawnSync(shell, RUNS[shell]?.(file, words) ?? [], { encoding: "utf8" });
  expect(stderr).toBe("");
  return (
    stdout
      .split("\n")
      .map((line) => line.replace(/\t.*$/, ""))
      // zsh itself leaves out what does not begin as the word does (compadd), not the function.
      .filter((word) => word !== "" && (shell !== "zsh" || word.startsWith(words.at(-1) ?? "")))
  );
}

describe("fileferry completion", () => {
  for (const shell of ["bash", "zsh"]) {
    it.skipIf(!has(shell))(`completes commands and flags in ${shell}${note(shell)}`, async () => {
      const file = await save(shell);
      expect(complete(shell, file, ["se"])).toEqual(["serve"]);
      expect(complete(shell, file, ["trash", ""])).toEqual(
        expect.arrayContaining(["list", "restore", "purge", "sweep"]),
      );
      expect(complete(shell, file, ["trash", "restore", "--"])).toEqual(["--config", "--to", "--help"]);
      expect(complete(shell, file, ["serve", "./files", "--log"])).toEqual(["--log-format", "--log-file"]);
      // The names of files follow.
      expect(complete(shell, file, ["serve", "--config", ""])).toEqual([]);
    });
  }

  it.skipIf(!has("fish"))(`completes commands and flags in fish${note("fish")}`, async () => {
    const file = await save("fish");
    expect(complete("fish", file, ["se"])).toEqual(["serve"]);
    expect(complete("fish", file, ["trash", ""])).toEqual(
      expect.arrayContaining(["list", "restore", "purge", "sweep"]),
    );
    expect([...complete("fish", file, ["trash", "restore", "--"])].sort()).toEqual(["--config", "--help", "--to"]);
    const flags = complete("fish", file, ["serve", "./files", "--log"]);
    expect([...flags].sort()).toEqual(["--log-file", "--log-format"]);
    // The names of files follow, and no command.
    expect(complete("fish", file, ["serve", "--config", ""])).not.toContain("serve");
  });

  for (const shell of ["bash", "zsh", "fish"]) {
    it.skipIf(!has(shell))(`writes a script that ${shell} reads${note(shell)}`, async () => {
      const file = await save(shell);
      expect(spawnSync(shell, ["-n", file], { encoding: "utf8" }).stderr).toBe("");
    });

    it(`has each command in the script of ${shell}`, async () => {
      const help = (await runInProcess(["--help"])).stdout;
      const names = [...help.matchAll(/^ {2}([a-z][a-z-]+) /gm)].map(([, name = ""]) => name);
      expect(names).toEqual(expect.arrayContaining(["serve", "account", "check-auth-endpoint", "trash"]));
      const script = await write(shell);
      const missing = names.filter((name) => name !== "help" && !new RegExp(`[" ]${name}[" ]`).test(script));
      expect(missing).toEqual([]);
    });
  }

  it("has lines of fish alone, each with a condition, a word and a quoted description", async () => {
    const lines = (await write("fish")).trimEnd().split("\n");
    const form = /^complete -c fileferry -n '[\w; -]+' (?:-f -a [a-z-]+|-l [a-z-]+(?: -r)?) -d '(?:[^'\\]|\\.)+'$/;
    expect(lines.filter((line) => !form.test(line))).toEqual([]);
    const inTrash = "__fish_seen_subcommand_from trash; and not __fish_seen_subcommand_from";
    expect(lines.some((line) => line.startsWith(`complete -c fileferry -n '${inTrash} `))).toBe(true);
    const ofRestore = "'__fish_seen_subcommand_from trash; and __fish_seen_subcommand_from restore'";
    expect(lines.filter((line) => line.includes(` -n ${ofRestore} -l to -r -d `))).toHaveLength(1);
    // A flag without a value takes none.
    expect(lines.some((line) => / -l help -d /.test(line))).toBe(true);
  });

  it("has the function of bash in zsh, which reads the script at the first completion and completes at once", async () => {
    const script = await write("zsh");
    const [first, second] = script.split("\n");
    // compinit looks at the first line, and without bashcompinit there is no `complete`.
    expect([first, second]).toEqual(["#compdef fileferry", "autoload -U +X bashcompinit && bashcompinit"]);
    expect(script).toContain(await write("bash"));
    expect(script.trimEnd().split("\n").at(-1)).toBe(
      `if [ "\${funcstack[1]}" = _fileferry ]; then _bash_complete -o default -F _fileferry; fi`,
    );
  });

  it("refuses other shells", async () => {
    expect(await runInProcess(["completion", "tcsh"])).toMatchObject({ status: 2 });
  });
});
