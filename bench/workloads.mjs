// What is measured: the requests, how many at a time and for how long.
import { basename, join } from "node:path";

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * The workloads in full size, or in a quick one for trying them. `unit` says what the figure is: requests or bytes (MB)
 * for a second of processor time, or milliseconds or MB/s by the clock.
 */
export function createWorkloads(isQuick) {
  const scale = isQuick
    ? { seconds: 1.5, warmSeconds: 0.7, large: 256 * MIB, form: 128 * MIB, members: [200, 1000, 5000], zip: 256 * KIB }
    : { seconds: 5, warmSeconds: 2, large: 1024 * MIB, form: 512 * MIB, members: [1e3, 1e4, 1e5], zip: 512 * KIB };
  const { seconds, warmSeconds, large, form } = scale;
  const small = { connections: 64, seconds, warmSeconds, exchanges: 0, warmExchanges: 0 };
  const few = { connections: 1, seconds: isQuick ? 0.5 : 3, warmSeconds: 0, exchanges: 1, warmExchanges: 1 };
  const many = { ...few, connections: 8, exchanges: 8, warmExchanges: 0 };
  return [
    { id: "get-1k", title: "GET of 1 KiB, 64 connections", ...getSmall("small", KIB), ...small },
    { id: "get-100k", title: "GET of 100 KiB, 64 connections", ...getSmall("medium", 100 * KIB), ...small },
    { id: "get-256k", title: "GET of 256 KiB, 64 connections", ...getSmall("quarter", 256 * KIB), ...small },
    { id: "get-1m", title: "GET of 1 MiB, 64 connections", ...getSmall("mebibyte", MIB), ...small },
    { id: "get-1g", title: `GET of ${toText(large)}`, ...getLarge(large), ...few },
    { id: "get-1g-8", title: `GET of ${toText(large)}, 8 at a time`, ...getLarge(large), ...many },
    { id: "put-1k", title: "PUT of 1 KiB, 64 connections", ...putSmall(), ...small },
    { id: "put-1k-memory", title: "PUT of 1 KiB, 64 connections, tmpfs", ...putSmall("upload-memory"), ...small },
    { id: "put-1g", title: `PUT of ${toText(large)}`, ...putLarge(large), ...few, exchanges: 2 },
    ...["list-1k", "list-10k", "list-100k"].map((id, index) => {
      const count = scale.members[index];
      return { id, title: `Listing of ${count.toLocaleString("en")} members`, ...listing(count), ...few };
    }),
    { id: "zip", title: `ZIP of 2,000 files, ${toText(2000 * scale.zip)}`, ...archive(2000, scale.zip), ...few },
    { id: "form", title: `Form upload of ${toText(form)}`, ...upload(form), ...few },
    { id: "form-100", title: "Form upload of 100 files of 1 KiB", ...uploadMany(100), ...few, exchanges: 5 },
    { id: "start", title: "Start to the first answer", ...start(), settleSeconds: isQuick ? 0.3 : 2 },
  ];
}

/** Workloads of one kind that grow in `size`: members of a folder, or bytes of a file. */
export function createGrowthWorkloads(isQuick) {
  const few = { connections: 1, seconds: isQuick ? 0.3 : 2, warmSeconds: 0, exchanges: 3, warmExchanges: 2 };
  const members = isQuick ? [10, 100, 1000] : [10, 100, 1000, 10_000, 100_000, 1_000_000];
  const sizes = (isQuick ? [1, 16, 64] : [1, 16, 64, 256, 1024]).map((mebibytes) => mebibytes * MIB);
  return {
    members: members.map((size) => ({ id: `members-${size}`, size, ...listing(size), ...few })),
    get: sizes.map((size) => ({ id: `get-${size}`, size, ...getLarge(size), ...few })),
    put: sizes.map((size) => ({ id: `put-${size}`, size, ...putLarge(size), ...few })),
  };
}

/** Many clients ask for small files at once. */
export function createClientsWorkloads(isQuick) {
  const counts = isQuick ? [1, 64] : [1, 64, 512, 4096];
  const shape = { seconds: isQuick ? 1 : 5, warmSeconds: isQuick ? 0.5 : 2, exchanges: 0, warmExchanges: 0 };
  const toWorkload = (size) => ({
    id: `clients-${size}`,
    size,
    ...getSmall("small", KIB),
    ...shape,
    connections: size,
  });
  return counts.map(toWorkload);
}

/** One client asks for small files while others are silent. */
export function createConnectionsWorkload(isQuick) {
  const counts = isQuick ? [1, 10, 100, 1000] : [1, 10, 100, 1000, 10_000];
  const shape = { connections: 1, seconds: isQuick ? 1 : 5, warmSeconds: 0.5, exchanges: 100, warmExchanges: 100 };
  return { ...getSmall("small", KIB), counts, shape };
}

/** The folder that a workload's server has as its root; the files are in a folder in it. */
export function toServedFolder(root, { fixture }) {
  return join(fixture.isInMemory ? toMemoryFolder(root) : root, `${fixture.folder}-root`);
}

/** The folder of a run on the system's file system in memory. */
export function toMemoryFolder(root) {
  return join("/dev/shm", basename(root));
}

function toText(bytes) {
  return bytes >= 1000 * MIB ? `${Math.round(bytes / 1024 / MIB)} GiB` : `${Math.round(bytes / MIB)} MiB`;
}

const numbered = (count, toItem) => Array.from({ length: count }, (_, index) => toItem(index));

/** Sixty-four files, so that none is everybody's. */
function getSmall(folder, size) {
  return {
    unit: "requests",
    fixture: { kind: "files", folder, count: 64, size },
    toJob: ({ get }) => get && { requests: numbered(64, (n) => get(`${folder}/${n}.bin`)), expect: ok(size) },
  };
}

function getLarge(size) {
  return {
    unit: "bytes",
    fixture: { kind: "files", folder: `large-${size}`, count: 1, size },
    toJob: ({ get }) => get && { requests: [get(`large-${size}/0.bin`)], expect: ok(size) },
  };
}

/** Each connection has sixteen names of its own, which are overwritten again and again. */
function putSmall(folder = "upload") {
  const body = { size: KIB };
  return {
    unit: "requests",
    fixture: { kind: "folder", folder, isInMemory: folder.endsWith("memory") },
    toJob: ({ put }) =>
      put && { requests: numbered(64 * 16, (n) => ({ ...put(`${folder}/${n}.bin`), body })), expect: stored() },
    stored: { folder, size: KIB },
  };
}

function putLarge(size) {
  return {
    unit: "bytes",
    fixture: { kind: "folder", folder: "upload" },
    toJob: ({ put }) => put && { requests: [{ ...put("upload/0.bin"), body: { size } }], expect: stored() },
    stored: { folder: "upload", size },
  };
}

function listing(members) {
  const folder = `members-${members}`;
  return {
    unit: "milliseconds",
    fixture: { kind: "members", folder, count: members, size: 10 },
    // Some need minutes for one answer of the largest.
    adjust: ({ isSlowToList }) => (isSlowToList ? { seconds: 0, warmExchanges: members > 20_000 ? 0 : 1 } : {}),
    toJob: ({ list }) => list && { requests: [list(folder)], expect: { status: [200, 207], members } },
  };
}

function archive(entries, size) {
  const expect = { status: [200], least: entries * size, entries };
  return {
    unit: "speed",
    fixture: { kind: "files", folder: "zip", count: entries, size },
    toJob: ({ zip }) => zip && { requests: [zip("zip")], expect },
    commands: expect,
  };
}

function upload(size) {
  return {
    unit: "bytes",
    fixture: { kind: "folder", folder: "upload" },
    toJob({ form }) {
      if (form === undefined) return undefined;
      const request = form("upload");
      return { requests: [{ ...request, body: { ...request.body, size } }], expect: stored() };
    },
    stored: { folder: "upload", size },
  };
}

function uploadMany(count) {
  return {
    unit: "milliseconds",
    fixture: { kind: "folder", folder: "upload" },
    toJob: ({ smallForm }) => smallForm && { requests: [smallForm("upload", count)], expect: stored() },
    stored: { folder: "upload", size: KIB },
  };
}

/** From the start of the process to the answer to a first GET, with the login where one is needed. */
function start() {
  const jobs = getSmall("small", KIB);
  return { ...jobs, unit: "milliseconds", isStart: true };
}

const ok = (bytes) => ({ status: [200], bytes });
const stored = () => ({ status: [200, 201, 204, 303] });
