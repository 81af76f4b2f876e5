import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amount, reportFigure } from "../support/trust.ts";
import { readCorpus, readInputs, writeInput } from "./corpus.ts";
import { createCoverage } from "./coverage.ts";
import { execute, type FuzzFailure, fuzz, minimise } from "./runner.ts";
import type { FuzzTarget } from "./target.ts";
import { createWatchdog } from "./watchdog.ts";

/**
 * What `npm run fuzz` asks for: its targets, their time, the seed of what is made up, where finds are kept, and the one
 * input that is looked at.
 */
const { FUZZ_TARGETS, FUZZ_SECONDS, FUZZ_SEED, FUZZ_FINDS, FUZZ_INPUT } = process.env;
const SECONDS = Number(FUZZ_SECONDS ?? amount({ short: 0.2, ci: 0.4, long: 30 }));
const SEED = Number(FUZZ_SEED ?? Date.now() % 1_000_000);
const FAILURES = join(FUZZ_FINDS ?? join(tmpdir(), "fileferry-fuzz"), "failures");

/** Loaded one by one, behind the coverage, which sees into nothing that was there before. */
const TARGETS: Readonly<Record<string, () => Promise<{ readonly target: FuzzTarget }>>> = {
  "url-path": () => import("./targets/url-path.ts"),
  multipart: () => import("./targets/multipart.ts"),
  metadata: () => import("./targets/metadata.ts"),
  accept: () => import("./targets/accept.ts"),
  range: () => import("./targets/range.ts"),
  authorization: () => import("./targets/authorization.ts"),
  json: () => import("./targets/json.ts"),
  commands: () => import("./targets/commands.ts"),
  endpoint: () => import("./targets/endpoint.ts"),
  outbound: () => import("./targets/outbound.ts"),
  "s3-answers": () => import("./targets/s3-answers.ts"),
  "webdav-bodies": () => import("./targets/webdav-bodies.ts"),
  "webdav-headers": () => import("./targets/webdav-headers.ts"),
  "upload-headers": () => import("./targets/upload-headers.ts"),
  service: () => import("./targets/service.ts"),
};

const coverage = createCoverage(new URL("../../src/", import.meta.url));
const watchdog = createWatchdog(join(tmpdir(), `fileferry-fuzz-stalled-${process.pid}`));
afterAll(() => watchdog.close());

const names = Object.keys(TARGETS).filter((name) => (FUZZ_TARGETS?.split(",") ?? [name]).includes(name));

/** A failing input in its shortest form, kept as a file, in words that lead back to it. */
async function describeFailure(name: string, target: FuzzTarget, failure: FuzzFailure): Promise<string> {
  const { input, error } = await minimise(target, failure, watchdog);
  const file = writeInput(join(FAILURES, name), input);
  const shown = JSON.stringify(input.slice(0, 2000));
  const replay = `npm run fuzz -- ${name} --input ${file}`;
  return `seed ${SEED}, ${name}: ${error.stack}\nof ${shown}\nAgain: ${replay}\nOnce mended it belongs into test/fuzz/corpus/${name}/.`;
}

describe.each(names)("%s, given hostile bytes", (name) => {
  let target: FuzzTarget;
  const corpus = FUZZ_INPUT === undefined ? readCorpus(name) : new Map([["it", readFileSync(FUZZ_INPUT, "latin1")]]);
  beforeAll(async () => {
    ({ target } = await (TARGETS[name] as (typeof TARGETS)[string])());
  });

  afterAll(() => target.close?.());

  it("keeps its promises for each seed, whatever has once broken one among them", async () => {
    expect(corpus.size).toBeGreaterThan(FUZZ_INPUT === undefined ? 9 : 0);
    for (const [file, input] of corpus) {
      await execute(target, input, watchdog).catch((error: Error) => expect.fail(`${file}: ${error.stack}`));
    }
  });

  it.skipIf(FUZZ_INPUT !== undefined)(
    `and for what is made of them within ${SECONDS} s (SECURITY 11, 12)`,
    async () => {
      const folder = FUZZ_FINDS === undefined ? undefined : join(FUZZ_FINDS, name);
      const known = folder === undefined ? [] : readInputs(folder).values();
      const { failure, ...result } = await fuzz(target, {
        seed: SEED,
        seconds: SECONDS,
        corpus: [...corpus.values(), ...known],
        coverage,
        watchdog,
        ...(folder !== undefined && { onFind: (input) => writeInput(folder, input) }),
      });
      if (failure !== undefined) expect.fail(await describeFailure(name, target, failure));
      const share = Math.round(result.reached * 1000) / 10;
      if (FUZZ_SECONDS !== undefined) {
        process.stdout.write(
          `${name}: ${result.executions} executions, ${result.finds} finds, ${share} % of its code\n`,
        );
      }
      reportFigure({ row: "Fuzzing", what: `executions of ${name}`, value: result.executions });
      reportFigure({ row: "Fuzzing", what: `of the code of ${name} reached`, value: share, unit: "%" });
      // The corpus alone reaches half of it: less would mean that nothing is looked at.
      expect(result.reached).toBeGreaterThan(0.45);
    },
  );
});
