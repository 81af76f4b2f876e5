// Gives hostile bytes to the parsers for as long as is asked, led by what of their code has run: npm run fuzz [--
// <target>...] [-- --seconds 60] [-- --seed 1] [-- --input <file>] Inputs that reach something new are kept in a folder
// beside the project, and are where the next run begins; one that breaks a promise is made as short as it can be, and
// printed. With --input one file is given to one target, and nothing is made up.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));
const known = readdirSync(join(project, "test/fuzz/corpus"));
/** Beside its time a target reads what is there, and shortens what fails. */
const SPARE_MILLISECONDS = 600_000;

const targets = [];
const options = {
  seconds: "60",
  seed: String(Date.now() % 1_000_000),
  input: "",
  finds: join(tmpdir(), "fileferry-fuzz"),
};
for (const args = process.argv.slice(2); args.length > 0; ) {
  const arg = args.shift();
  const name = arg.startsWith("--") ? arg.slice(2) : undefined;
  if (name === undefined && known.includes(arg)) targets.push(arg);
  else if (name !== undefined && Object.hasOwn(options, name) && args.length > 0) options[name] = args.shift();
  else fail(`${arg} is no option and no target`);
}
const { seconds, seed, input, finds } = options;
if (!(Number(seconds) > 0) || !/^\d+$/.test(seed)) fail("--seconds and --seed take a number");
if (input !== "" && targets.length !== 1) fail("--input needs the one target that it is for");

process.stdout.write(`Seed ${seed}; what is found is kept in ${finds}.\n`);
const args = [
  "vitest",
  "run",
  `--testTimeout=${Number(seconds) * 1000 + SPARE_MILLISECONDS}`,
  "test/fuzz/fuzz.test.ts",
];
const { status } = spawnSync("npx", args, {
  cwd: project,
  stdio: "inherit",
  env: {
    ...process.env,
    FUZZ_TARGETS: (targets.length > 0 ? targets : known).join(","),
    FUZZ_SECONDS: seconds,
    FUZZ_SEED: seed,
    FUZZ_FINDS: finds,
    ...(input !== "" && { FUZZ_INPUT: resolve(input) }),
  },
});
process.exitCode = status ?? 1;

function fail(what) {
  process.stderr.write(`${what}. Targets: ${known.join(", ")}. Options: --seconds, --seed, --input, --finds.\n`);
  process.exit(2);
}
