import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Step, toPattern, toSteps } from "../docs/transcript.ts";
import { type Command, startCommand } from "../support/command.ts";
import { tapChildren } from "../support/openapi/child-log.ts";
import { amount } from "../support/trust.ts";

const DOCUMENT = new URL("../../docs/quick-start.md", import.meta.url);

/** Sizes of files that the document shows, and those that are tried. */
const SIZES = [
  [1_073_741_824, amount({ short: 134_217_728, long: 1_073_741_824 })],
  [400_000_000, amount({ short: 50_000_000, long: 400_000_000 })],
] as const;

/** The commands of the document's transcripts with the output that it shows for each. */
async function readSteps(): Promise<readonly Step[]> {
  const text = SIZES.reduce(
    (page, [shown, played]) => page.replaceAll(`${shown}`, `${played}`),
    await readFile(DOCUMENT, "utf8"),
  );
  const transcripts = [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, transcript = ""]) => transcript);
  return toSteps(transcripts.join(""));
}

/** What a command run in a shell prints, both streams as a terminal shows them. */
function run(command: string, cwd: string): Promise<string> {
  const shell = spawn("bash", ["-c", `${command} 2>&1`], { cwd, stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  return new Promise((resolve) => shell.on("close", () => resolve(printed)));
}

describe("docs/quick-start.md", () => {
  let folder: string;
  let service: Command;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-quick-start-"));
    await mkdir(join(folder, "files"));
    await mkdir(join(folder, "client"));
    const args = ["serve", join(folder, "files"), "--account", "demo:demo", "--port", "0", "--quiet"];
    service = await startCommand(args, await tapChildren());
  });

  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it("shows what happens", async () => {
    const steps = await readSteps();
    expect(steps.length).toBeGreaterThan(20);
    const shown: unknown[] = [];
    const expected: unknown[] = [];
    // Variables live from one step to the next: each shell begins with the assignments so far.
    let assignments = "";
    for (const { command, output } of steps) {
      const own = command.replaceAll("http://127.0.0.1:8080", service.origin);
      if (/^\w+=/.test(own)) assignments += `${own}\n`;
      const printed = (await run(`${assignments}${own}`, join(folder, "client"))).replaceAll("\r", "").trimEnd();
      shown.push({ command, output: printed === "" ? "" : `${printed}\n` });
      expected.push({ command, output: expect.stringMatching(toPattern(output)) });
    }
    expect(shown).toEqual(expected);
  }, 180_000);
});
