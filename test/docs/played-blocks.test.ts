import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Block, findBlocks, toPlace, toWhole } from "./blocks.ts";
import { createEnvironment, type Environment, findMissing } from "./environment.ts";
import { readPages } from "./pages.ts";
import { toPattern, toSteps } from "./transcript.ts";

/** The number of blocks of commands that may be marked as not run here: installing changes a system, for example. */
const MOST_NOT_RUN = 16;

/** Its transcripts go through 1 GiB, in a test of their own: test/runtimes/quick-start.test.ts. */
const REPLAYED = "docs/quick-start.md";

const pages = (await readPages(["README.md", "CONTRIBUTING.md", "docs", "examples"])).map(({ path, tokens }) => ({
  path,
  blocks: findBlocks({ path, tokens }).filter(({ saved, ...block }) => saved !== undefined || isOfCommands(block)),
}));
const commands = pages.flatMap(({ blocks }) => blocks.filter(isOfCommands));

function isOfCommands({ page, language }: Pick<Block, "page" | "language">): boolean {
  return language === "sh" || (language === "console" && page !== REPLAYED);
}

/** What is run of a page: each block, with the files between it and the previous block. */
function toPlays(blocks: readonly Block[]): readonly (readonly [place: string, block: Block, files: Block[]])[] {
  let files: Block[] = [];
  return blocks.flatMap((block) => {
    if (block.saved !== undefined) files.push(block);
    if (!isOfCommands(block) || block.notRun !== undefined) return [];
    const play = [toPlace(block), block, files] as const;
    files = [];
    return [play];
  });
}

async function playCommands(environment: Environment, block: Block): Promise<void> {
  const { status, output } = await environment.run(toWhole(block), { isStrict: true, typed: block.typed ?? "" });
  expect({ status, output }).toEqual({ status: 0, output: expect.anything() });
}

async function playTranscript(environment: Environment, { before, text, after, typed = "" }: Block): Promise<void> {
  expect(await environment.run(before, { isStrict: true })).toMatchObject({ status: 0 });
  const steps = toSteps(text);
  expect(steps.length).toBeGreaterThan(0);
  for (const { command, output: shown } of steps) {
    const printed = await environment.run(command, { typed });
    const output = printed.output === "" ? "" : `${printed.output}\n`;
    expect({ command, output }).toEqual({
      command,
      output: expect.stringMatching(toPattern(environment.toLocal(shown))),
    });
  }
  expect(await environment.run(after, { isStrict: true })).toMatchObject({ status: 0 });
}

describe.for(pages.map(({ path, blocks }) => [path, toPlays(blocks)] as const).filter(([, plays]) => plays.length > 0))(
  "the commands of %s",
  ([, plays]) => {
    let environment: Environment;

    beforeAll(async () => {
      environment = await createEnvironment();
    }, 300_000);

    afterAll(() => environment?.stop());

    it.for(plays)("do what %s says", { timeout: 120_000 }, async ([, block, files], { skip }) => {
      const missing = findMissing(toWhole(block));
      if (missing !== undefined && process.env.CI) throw new Error(`not installed: ${missing}`);
      skip(missing !== undefined, `not installed: ${missing}`);
      for (const { saved = "", text } of files) await environment.save(saved, text);
      await (block.language === "console" ? playTranscript : playCommands)(environment, block);
    });
  },
);

describe("the commands of the documentation", () => {
  it("are run but for a handful, each of which says why not", () => {
    const reasons = commands.flatMap(({ notRun }) => notRun ?? []);
    expect(reasons.length).toBeLessThanOrEqual(MOST_NOT_RUN);
    for (const reason of reasons) expect(reason).toMatch(/^.{10,120}$/);
    expect(commands.length - reasons.length).toBeGreaterThan(15);
  });
});
