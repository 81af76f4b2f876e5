// What is measured: the requests, how many at a time and for how long.

const KIB = 1024;
const MIB = 1024 * KIB;

/** @typedef {{ id: string, title: string, unit: string }} Workload */

/** The workloads in full size, or in a quick one for trying them. */
export function createWorkloads(isQuick) {
  const seconds = isQuick ? 1.5 : 6;
  const warmSeconds = isQuick ? 0.7 : 3;
  const large = (isQuick ? 256 : 1024) * MIB;
  const small = { connections: 64, seconds, warmSeconds, exchanges: 0, warmExchanges: 0 };
  const few = { seconds: isQuick ? 0.5 : 3, warmSeconds: 0, warmExchanges: 1 };
  return [
    { id: "get-1k", title: "GET of 1 KiB, 64 connections", ...getSmall("small", KIB), ...small },
    { id: "get-100k", title: "GET of 100 KiB, 64 connections", ...getSmall("medium", 100 * KIB), ...small },
    { id: "get-1g", title: `GET of ${toText(large)}`, ...getLarge(large), ...few, connections: 1, exchanges: 1 },
    {
      id: "get-1g-8",
      title: `GET of ${toText(large)}, 8 at a time`,
      ...getLarge(large),
      ...few,
      connections: 8,
      warmExchanges: 0,
      exchanges: 8,
    },
    { id: "put-1k", title: "PUT of 1 KiB, 64 connections", ...putSmall(), ...small },
    { id: "put-1g", title: `PUT of ${toText(large)}`, ...putLarge(large), ...few, connections: 1, exchanges: 1 },
  ];
}

function toText(bytes) {
  return bytes >= 1024 * MIB ? `${bytes / 1024 / MIB} GiB` : `${bytes / MIB} MiB`;
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
    fixture: { kind: "files", folder: "large", count: 1, size },
    toJob: ({ get }) => get && { requests: [get("large/0.bin")], expect: ok(size) },
  };
}

/** Each connection has sixteen names of its own, which are overwritten again and again. */
function putSmall() {
  const body = { size: KIB };
  return {
    unit: "requests",
    fixture: { kind: "folder", folder: "upload" },
    toJob: ({ put }) =>
      put && { requests: numbered(64 * 16, (n) => ({ ...put(`upload/${n}.bin`), body })), expect: stored() },
    stored: { folder: "upload", size: KIB },
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

const ok = (bytes) => ({ status: [200], bytes });
const stored = () => ({ status: [200, 201, 204] });
