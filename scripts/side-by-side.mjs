// Runs commands at the same time: node scripts/side-by-side.mjs <command>... Prints each command when it starts, and
// its output when it ends, in one piece. Fails if one of them fails, after all have ended.
import { spawn } from "node:child_process";

const statuses = await Promise.all(process.argv.slice(2).map(run));
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;

function run(command) {
  return new Promise((resolve, reject) => {
    process.stdout.write(`Starting: ${command}\n`);
    const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
    const pieces = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => pieces.push(piece));
    child.on("error", reject);
    child.on("close", (status) => {
      const failure = status === 0 ? "" : `This command has failed: ${command}\n`;
      process.stdout.write(Buffer.concat([Buffer.from(`\n$ ${command}\n`), ...pieces, Buffer.from(failure)]));
      resolve(status);
    });
  });
}
