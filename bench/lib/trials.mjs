// Trials of servers, each on a server that was started for it, and their medians.
import { clearFolder } from "./fixtures.mjs";
import { startServer } from "./processes.mjs";
import { median, toPlainTable, toServerTable } from "./report.mjs";

/** Of several rounds the worst counts here: no round may break such a promise. */
const WORST = ["severalWinners", "lost", "failed", "bothMoved", "peakRss"];

/**
 * Runs trials on servers. A trial gets what `createClient` makes, and the folder `work`, which is empty.
 * @returns rows: each has a title and the median figures of each server.
 */
export async function measureTrials({ trials, servers, served, rounds, createClient }) {
  const rows = [];
  for (const trial of trials) {
    const row = { id: trial.id, title: trial.title, servers: {} };
    for (const server of servers.filter(({ isOwn }) => isOwn === true || trial.ownOnly !== true)) {
      const figures = await runRounds(trial, server, { served, rounds, createClient });
      if (figures !== undefined) row.servers[server.id] = { title: server.title, ...figures };
    }
    rows.push(row);
    process.stdout.write(`\n${row.title}\n${toPlainTable(toServerTable(row))}\n`);
  }
  return rows;
}

/** Some need minutes for one listing. */
async function runRounds(trial, server, { served, rounds, createClient }) {
  const results = [];
  for (let round = 0; round < (server.isSlowToList === true ? 1 : rounds); round += 1) {
    results.push(await runTrial(trial, server, { served, createClient }));
  }
  const done = results.filter((result) => result !== undefined);
  return done.length === 0 ? undefined : toMedian(done);
}

async function runTrial(trial, server, { served, createClient }) {
  clearFolder(served, "work");
  const running = await startServer(server, served);
  try {
    return await trial.run({ send: await createClient(running, server), running, server, served });
  } catch (error) {
    process.stderr.write(`${server.title}, ${trial.title}: ${[error.message, ...running.errors()].join(" | ")}\n`);
    return undefined;
  } finally {
    await running.stop();
  }
}

/** The median of each figure, or the worst. */
export function toMedian(results) {
  const fields = Object.keys(results[0]).filter((field) => typeof results[0][field] === "number");
  const toOne = (field, values) => (WORST.includes(field) ? Math.max(...values) : median(values));
  return Object.fromEntries(
    fields.map((field) => [
      field,
      toOne(
        field,
        results.map((result) => result[field]),
      ),
    ]),
  );
}
