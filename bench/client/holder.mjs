// Holds idle keep-alive connections, each of which has had one answer: node bench/client/holder.mjs <job as JSON>.
// Prints "ready" when all are there; answers a line with how many still are.
import { openConnection } from "./connection.mjs";

/** As many are opened at a time. */
const AT_ONCE = 50;

const { host, port, count, headers, request } = JSON.parse(process.argv[2]);
const fields = Object.entries({ Host: `${host}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
const message = [Buffer.from(`${request.method} ${request.path} HTTP/1.1\r\n${fields.join("")}\r\n`)];
const connections = [];
let started = 0;

async function open() {
  while (started < count) {
    started += 1;
    const connection = await openConnection({ host, port, bufferBytes: 2048 });
    const { status } = await connection.exchange(message);
    if (status !== 200) throw new Error(`${request.path} was answered ${status}.`);
    connections.push(connection);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, open));
process.stdout.write("ready\n");
process.stdin.on("data", () => {
  process.stdout.write(`${connections.filter(({ isOpen }) => isOpen()).length}\n`);
});
