import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, projectFolder } from "../../support/built.ts";
import { FORMATS, logRefusedLogins, REFUSED } from "./refused-logins.ts";

const isInstalled = spawnSync("fail2ban-regex", ["--version"]).status === 0;
if (!isInstalled && process.env.CI) throw new Error("fail2ban-regex is not installed");

beforeAll(ensureBuilt);

/** Plays the filter with fail2ban's own program. Returns what it prints by a template for each match. */
async function findMatches(log: string, template: string): Promise<readonly string[]> {
  const file = join(await makeFolder(), "service.log");
  await writeFile(file, `${log}\n`);
  const filter = join(projectFolder, "examples/fail2ban/fileferry.conf");
  const { stdout } = await promisify(execFile)("fail2ban-regex", ["--out", template, file, filter]);
  return stdout.split("\n").filter((line) => line !== "");
}

describe.skipIf(!isInstalled)(
  `the filter, by fail2ban itself${isInstalled ? "" : " (skipped: fail2ban-regex is not installed)"}`,
  () => {
    it.each(FORMATS)("finds refused logins, and nothing that clients make up, in the format %s", async (format) => {
      const log = await logRefusedLogins(format);
      expect(await findMatches(log, "<ip>")).toEqual(REFUSED);
      const journal = log.replaceAll(/^/gm, "files.example fileferry[4711]: ");
      expect(await findMatches(journal, "<ip>")).toEqual(REFUSED);
    });

    it("finds the time of lines of JSON, which clients cannot choose", async () => {
      const before = Math.floor(Date.now() / 1000);
      const log = await logRefusedLogins("json");
      const after = Date.now() / 1000;
      // Of a line without a time the second member is `None`.
      const times = (await findMatches(log, "row")).map((row) => Number(row.split(/,\s*/)[1]));
      expect(times).toHaveLength(REFUSED.length);
      for (const time of times) {
        expect(time).toBeGreaterThanOrEqual(before);
        expect(time).toBeLessThanOrEqual(after);
      }
    });
  },
);
