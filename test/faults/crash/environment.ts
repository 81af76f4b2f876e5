import { type FSWatcher, watch } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type CommandRun, makeFolder, startServer } from "../../support/built.ts";
import { checkLane, createLane, type Lane } from "./lane.ts";
import { checkFile, checkLogins, openBook, type PasswordBook, toAccounts } from "./passwords.ts";

/** The command, run again and again on one folder. */
export interface CrashEnvironment {
  readonly lanes: readonly Lane[];
  readonly book: PasswordBook;
  /** The process that runs now. */
  server(): CommandRun & { readonly url: string };
  /** Calls back once, soon after an unfinished file is seen, until the function that it gives is called. */
  onTemporary(seen: () => void): () => void;
  /** Kills the process, starts another one, and looks at all there is. */
  killAndCheck(what: string): Promise<void>;
}

/** The names of all unfinished files, of any process. */
const TEMPORARY = /\.tmp$/i;
const LANES = 4;
/** How long the start's clean-up may take, in milliseconds: it goes through some folders, a millisecond each. */
const SWEEP_MILLISECONDS = 15_000;

/** A folder of its own with files and accounts, and the command, which is in this file, on it. */
export async function createCrashEnvironment(command: string, accounts: number): Promise<CrashEnvironment> {
  const folder = await makeFolder();
  const lanes = Array.from({ length: LANES }, (_, index) => createLane(`lane-${index}`));
  for (const { name } of lanes) await mkdir(join(folder, "files", name), { recursive: true });
  await mkdir(join(folder, "accounts"));
  const file = join(folder, "accounts/accounts.json");
  await writeFile(file, JSON.stringify({ accounts: toAccounts(accounts) }));
  const config = join(folder, "fileferry.json");
  await writeFile(
    config,
    JSON.stringify({
      listen: { port: 0 },
      storage: { type: "disk", root: "./files" },
      authentication: [{ type: "accounts", file: "accounts/accounts.json" }],
      passwordPolicy: { allowUserName: true },
      webdav: {},
    }),
  );
  const book = await openBook(file);
  const start = () => startServer(["serve", "--config", config, "--quiet"], [], command);
  let server = await start();
  let kills = 0;

  function onTemporary(seen: () => void): () => void {
    let watchers: FSWatcher[] = [];
    const stop = () => {
      for (const watcher of watchers) watcher.close();
      watchers = [];
    };
    const places = ["accounts", ...lanes.map(({ name }) => `files/${name}`)];
    watchers = places.map((place) =>
      watch(join(folder, place), (_event, name) => {
        if (name === null || !TEMPORARY.test(name) || watchers.length === 0) return;
        stop();
        seen();
      }),
    );
    return stop;
  }

  async function expectSwept(what: string): Promise<void> {
    const leftovers = async () => (await readdir(folder, { recursive: true })).filter((name) => TEMPORARY.test(name));
    await expect.poll(leftovers, { timeout: SWEEP_MILLISECONDS, message: `leftovers, ${what}` }).toEqual([]);
  }

  async function killAndCheck(what: string): Promise<void> {
    server.child.kill("SIGKILL");
    await server.ended;
    const changed = await checkFile(book, what);
    server = await start();
    // Every second time before a folder is listed: a listing also removes what is unfinished in it.
    kills += 1;
    if (kills % 2 === 0) await expectSwept(what);
    await Promise.all(lanes.map((lane) => checkLane(lane, server.url, what)));
    await checkLogins(server.url, changed, what);
    await expectSwept(what);
    expect((await readdir(join(folder, "files"), { recursive: true })).sort(), `what is on disk, ${what}`).toEqual(
      lanes.flatMap(({ name, states }) => [name, ...[...states.keys()].map((path) => `${name}/${path}`)]).sort(),
    );
    expect(await readdir(join(folder, "accounts")), `beside the accounts, ${what}`).toEqual(["accounts.json"]);
    expect(server.stderr(), `the log of the next start, ${what}`).not.toMatch(/error/i);
  }

  return { lanes, book, server: () => server, onTemporary, killAndCheck };
}
