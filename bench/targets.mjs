// What this project is to reach, as ratios within one run. `floor` must be met, `aim` is where it should go.

/**
 * Against the best of some peers. `better` is "more", or "less" for times; ratios are turned, so that more is always
 * better.
 */
const against = (peers, floor, aim) => ({ peers, floor, aim });
const atMost = (field, floor, aim) => ({ field, floor, aim });
/** As the default and as a service that, like all its peers, does not wait for the disk. */
const eitherWay = (targets) => [...targets, ...targets.map((target) => ({ ...target, own: "fileferry-rename" }))];

/** nginx sends the files, against the same without it; the time of both processes counts. */
const offloaded = (floor) => ({ ...against(["fileferry-behind-nginx"], floor), own: "fileferry-offload" });

const STATIC = ["express", "sirv", "hono"];
const ZIP_WRITERS = ["zip-yazl", "zip-archiver", "zip-client-zip", "zip-fflate", "zip-jszip", "zip-zip.js"];

const listing = [against(["bare-tuned"], 1, 2), against(["nephele"], 20), against(["webdav-server"], 20)];

/** By the workload's identifier. */
export const targets = {
  "get-1k": [
    against(["bare-tuned"], 1, 1.3),
    { ...against(["bare-tuned"], 0.4, 0.67), field: "p99" },
    against(["express"], 4),
    ...["fileferry-basic", "fileferry-basic-plain"].map((own) => ({ ...against(["fileferry"], 0.95, 0.98), own })),
    { ...against(["fileferry"], 0.7), own: "fileferry-basic-each" },
    { ...against(["fileferry"], 0.77, 0.9), own: "fileferry-link" },
    offloaded(1),
  ],
  "get-100k": [against(["bare-tuned"], 0.9, 1), offloaded(2)],
  "get-256k": [against(["bare-tuned"], 0.9, 1)],
  "get-1m": [offloaded(5)],
  // Less than 0.02 s.
  "get-1g": [
    against(["bare-tuned"], 1.1, 1.5),
    against(STATIC, 2),
    { ...atMost("ownCpuMs", 19.9), own: "fileferry-offload" },
  ],
  "put-1k": [
    ...eitherWay([against(["bare-tuned"], 0.5, 0.8), against(["nephele"], 3)]),
    { ...against(["fileferry"], 0.9), own: "fileferry-quota-fsync" },
  ],
  "put-1k-memory": [
    { ...against(["bare-atomic"], 0.35, 0.6), own: "fileferry-rename" },
    { ...against(["fileferry-rename"], 0.9), own: "fileferry-quota" },
  ],
  "put-1g": [
    ...eitherWay([against(["bare-tuned"], 0.9, 1.2)]),
    ...eitherWay([against(["bare-atomic"], 0.91, 1)]),
    // At most twice the processor time.
    { ...against(["fileferry"], 0.5), own: "fileferry-digest" },
  ],
  "list-10k": listing,
  "list-100k": listing,
  zip: [
    against(ZIP_WRITERS, 3),
    { ...against(["fileferry"], 0.6), workload: "get-1g", field: "speed" },
    against(["bsdtar"], undefined, 1.5),
    against(["zip"], undefined, 1.5),
  ],
  form: [{ ...against(["fileferry"], 0.7, 0.85), workload: "put-1g" }],
  start: [atMost("figure", 200, 150), atMost("idleRss", 70, 60)],
};

const EVERYWHERE = [atMost("peakRss", 120, 100)];

/**
 * The targets of a workload against what a run has measured: what each is about, the value, and "aim met", "floor met"
 * or "missed". Those whose peers are not in the run are left out.
 */
export function judge(results, id) {
  return [...(targets[id] ?? []), ...EVERYWHERE].flatMap((target) => {
    const own = results[id]?.servers[target.own ?? "fileferry"]?.median;
    if (own === undefined) return [];
    const judged = target.peers === undefined ? judgeLimit(own, target) : judgeRatio(results, id, own, target);
    return judged ?? [];
  });
}

const LIMIT_TEXTS = {
  peakRss: "peak RSS, MB",
  idleRss: "idle RSS, MB",
  figure: "ms",
  ownCpuMs: "CPU ms of the service, offload",
};

/** Those of older runs do not have each figure. */
function judgeLimit(own, { field, floor, aim }) {
  const value = own[field];
  if (value === undefined) return undefined;
  const isMet = (limit) => limit !== undefined && value <= limit;
  return { about: LIMIT_TEXTS[field], value, floor, aim, isLimit: true, verdict: toVerdict(isMet, floor, aim) };
}

function judgeRatio(results, id, own, { peers, floor, aim, own: ownId, workload = id, field = "figure" }) {
  const other = results[workload];
  const isTime = other?.unit === "milliseconds" || field === "p99";
  const values = peers.flatMap((peer) => {
    const figure = other?.servers[peer]?.median?.[field];
    return figure === undefined ? [] : [{ peer, figure }];
  });
  if (values.length === 0) return undefined;
  values.sort((one, two) => (isTime ? one.figure - two.figure : two.figure - one.figure));
  const [best] = values;
  const value = isTime ? best.figure / own[field] : own[field] / best.figure;
  const subject = ownId === undefined ? "" : `${results[id].servers[ownId].title.replace("fileferry, ", "")}, `;
  const what = field === "p99" ? "p99, " : "";
  const where = workload === id ? "" : `, ${other.title}`;
  const about = `${subject}${what}to ${other.servers[best.peer].title}${where}`;
  const isMet = (limit) => limit !== undefined && value >= limit;
  return { about, value, floor, aim, isLimit: false, verdict: toVerdict(isMet, floor, aim) };
}

function toVerdict(isMet, floor, aim) {
  if (isMet(aim)) return "aim met";
  if (isMet(floor)) return "floor met";
  return floor === undefined ? "aim missed" : "missed";
}

/** `toValue` gets the figures of a row, and those of the JSON listing of as many members. */
const limit = (about, floor, toValue, own = "fileferry") => ({ about, floor, toValue, own });
const listingBy = (times) => [
  limit("ms, to the JSON listing", times, ({ ms }, json) => ms / json.ms),
  limit("CPU ms, to the JSON listing", times, ({ cpuMs }, json) => cpuMs / json.cpuMs),
  limit("first byte, ms", 100, ({ firstMs }) => firstMs),
  // 24 MiB.
  limit("peak RSS, MB above that of the JSON listing", 25.2, ({ peakRss }, json) => peakRss - json.peakRss),
];
const FAILED = limit("responses 5xx", 0, ({ failed }) => failed);

/** By the identifier of a row of `webdav.mjs`, without its number of members. */
const webdavTargets = {
  propfind: listingBy(1.6),
  allprop: [...listingBy(1.8), limit("bytes per member", 430, ({ bytesPerMember }) => bytesPerMember)],
  move: [limit("ms", 50, ({ ms }) => ms), limit("permissions by path, ms", 1500, ({ ms }) => ms, "fileferry-judged")],
  copy: [
    limit("ms", 10_000, ({ ms }) => ms),
    limit("99th percentile of the listing, ms", 100, ({ listingP99 }) => listingP99),
  ],
  "lock-race": [limit("rounds with several winners", 0, ({ severalWinners }) => severalWinners)],
  "proppatch-race": [limit("changes lost", 0, ({ lost }) => lost), FAILED],
  "move-race": [limit("rounds in which both moved", 0, ({ bothMoved }) => bothMoved), FAILED],
  "put-locks": [limit("to PUT without locks, ms", 1.1, ({ withMs, withoutMs }) => withMs / withoutMs)],
};

/** As {@link judge}, for a row of a run of `webdav.mjs`. Targets whose figures the run does not have are left out. */
export function judgeWebdav(rows, { id, servers }) {
  const [, name, count] = /^(.*?)(-\d+)?$/.exec(id);
  return judgeRow(webdavTargets[name], servers, rows.find((row) => row.id === `json${count}`)?.servers);
}

const toPut = (times) => limit("CPU, to one PUT", times, ({ cpu }, put) => cpu / put.cpu);
const peak = (most) => limit("peak RSS, MB", most, ({ peakRss }) => peakRss);

const uploadTargets = {
  put: [peak(160)],
  patch: [toPut(1.15), peak(160)],
  "patch-sha256": [toPut(2), peak(160)],
  optimistic: [toPut(1.05), peak(160)],
  concatenation: [toPut(2.2), peak(160)],
  sixteen: [peak(220)],
  "head-size": [
    limit("ms, 1 MiB", 5, ({ smallMs }) => smallMs),
    limit("1 GiB, to 1 MiB", 2, ({ largeMs, smallMs }) => largeMs / smallMs),
  ],
  "head-count": [limit("of 1,000 uploads, to 10", 2, ({ manyMs, fewMs }) => manyMs / fewMs)],
  create: [limit("to PUT of 1 KiB, ms", 3, ({ ms, putMs }) => ms / putMs)],
};

/** As {@link judgeWebdav}, for a row of a run of `uploads.mjs`. */
export function judgeUploads(rows, { id, servers }) {
  if (id === "parts") return judgeParts(servers);
  return judgeRow(uploadTargets[id], servers, rows.find((row) => row.id === "put")?.servers);
}

/** Three connections are to be twice as fast as one. */
function judgeParts({ fileferry }) {
  if (fileferry === undefined) return [];
  const value = fileferry.oneMs / fileferry.threeMs;
  return [{ about: "times as fast", value, floor: 2, verdict: value >= 2 ? "floor met" : "missed" }];
}

function judgeRow(targets = [], servers, others) {
  return targets.flatMap(({ about, floor, toValue, own }) => {
    const value = servers[own] && toValue(servers[own], others?.[own] ?? {});
    if (!Number.isFinite(value)) return [];
    return [{ about, value, floor, isLimit: true, verdict: value <= floor ? "floor met" : "missed" }];
  });
}
