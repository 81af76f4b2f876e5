// The load client, a process of its own: node bench/load.mjs <job as JSON>. It warms the server up, prints "ready", and
// begins to count when a line comes in; then it prints what it counted as JSON. A wrong status or number of bytes ends
// it with 1.
//
// job: host, port, connections, warmSeconds, warmExchanges, seconds, exchanges (at least), headers, requests: [{
// method, path, body, hasDigest (of its content) }], body: { size, begin, end, type }, expect: { status: [...], bytes,
// least (bytes), members (of a listing), entries (of an archive) }
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { ARCHIVE_END, checkArchive } from "./client/archive.mjs";
import { openConnection } from "./client/connection.mjs";

const FILL = randomBytes(1_048_576);
/** Bodies up to this size are sent in one piece with the head. */
const SMALL = 65_536;
/** A server's queue of new connections holds 511 in Node. */
const CONNECTS_AT_ONCE = 128;

const job = JSON.parse(process.argv[2]);
const connections = await connectAll();
const messages = job.requests.map(toMessage);

try {
  await run(job.warmSeconds, job.warmExchanges);
  process.stdout.write("ready\n");
  await once(process.stdin, "data");
  process.stdout.write(`${JSON.stringify(await run(job.seconds, job.exchanges))}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
for (const { close } of connections) close();
process.stdin.destroy();

async function connectAll() {
  const all = [];
  while (all.length < job.connections) {
    const some = Math.min(CONNECTS_AT_ONCE, job.connections - all.length);
    all.push(...(await Promise.all(Array.from({ length: some }, connect))));
  }
  return all;
}

function connect() {
  return openConnection({ host: job.host, port: job.port, bufferBytes: job.connections > 8 ? 65_536 : 1_048_576 });
}

/** Sends requests on all connections until the time is over and as many as wanted are answered. */
async function run(seconds, exchanges) {
  if (seconds === 0 && exchanges === 0) return undefined;
  const counted = { exchanges: 0, bytes: 0, seconds: 0 };
  const latencies = [];
  let started = 0;
  const begun = performance.now();
  const isOver = () => performance.now() - begun >= seconds * 1000 && started >= exchanges;
  async function work(index) {
    for (let turn = 0; turn === 0 || !isOver(); turn += 1) {
      started += 1;
      if (!connections[index].isOpen()) connections[index] = await connect();
      const sent = performance.now();
      const message = messages[(index + turn * job.connections) % messages.length];
      // Not `+= await`, which would add to what the sum was before.
      const bytes = await exchange(connections[index], message);
      counted.bytes += bytes;
      latencies.push(performance.now() - sent);
      counted.exchanges += 1;
    }
  }
  await Promise.all(connections.map((_, index) => work(index)));
  counted.seconds = (performance.now() - begun) / 1000;
  latencies.sort((one, other) => one - other);
  const percentile = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return { ...counted, p50: percentile(0.5), p99: percentile(0.99) };
}

/** One request and its answer, judged; how many bytes of content went one way or the other. */
async function exchange(connection, message) {
  const { status: statuses, bytes: expected, least = 0, members, entries } = job.expect;
  const content = members === undefined && entries === undefined ? undefined : collect(entries !== undefined);
  const { status, bytes } = await connection.exchange(message.parts(), content?.add);
  if (!statuses.includes(status)) throw new Error(`${message.name} was answered ${status}.`);
  if (bytes < least || bytes !== (expected ?? bytes)) {
    throw new Error(`${message.name}: ${bytes} bytes, not ${expected ?? `at least ${least}`}.`);
  }
  if (members !== undefined) checkMembers(content.bytes(), message.name);
  if (entries !== undefined) checkArchive(content.bytes(), entries);
  return message.size > 0 ? message.size : bytes;
}

/** The bytes of a body, or of its end. */
function collect(isEndOnly) {
  let pieces = [];
  function add(piece) {
    if (isEndOnly) pieces = [Buffer.concat([...pieces, piece.subarray(-ARCHIVE_END)]).subarray(-ARCHIVE_END)];
    else pieces.push(Buffer.from(piece));
  }
  return { add, bytes: () => Buffer.concat(pieces) };
}

function checkMembers(bytes, name) {
  const names = new Set(bytes.latin1Slice().match(/member-\d{6}/g));
  if (names.size !== job.expect.members) throw new Error(`${name}: ${names.size} members, not ${job.expect.members}.`);
}

/** A request in the buffers that it is sent as. */
function toMessage({ method, path, headers, body, hasDigest = false }) {
  const { size = 0, begin = "", end = "", type } = body ?? {};
  const fields = { Host: `${job.host}:${job.port}`, ...job.headers, ...headers };
  if (body !== undefined) fields["Content-Length"] = size + begin.length + end.length;
  if (type !== undefined) fields["Content-Type"] = type;
  if (hasDigest) fields["Content-Digest"] = `sha-256=:${toDigest(size)}:`;
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${begin}`);
  const name = `${method} ${path}`;
  if (size <= SMALL && end === "") {
    const whole = [Buffer.concat([head, FILL.subarray(0, size)])];
    return { name, size, parts: () => whole };
  }
  return { name, size, parts: () => largeParts(head, size, end) };
}

function* largeParts(head, size, end) {
  yield head;
  yield* contentParts(size);
  if (end !== "") yield Buffer.from(end);
}

function* contentParts(size) {
  for (let left = size; left > 0; left -= FILL.length) yield left < FILL.length ? FILL.subarray(0, left) : FILL;
}

/** The SHA-256 of content of a size, before anything is measured. */
function toDigest(size) {
  const hash = createHash("sha256");
  for (const part of contentParts(size)) hash.update(part);
  return hash.digest("base64");
}
