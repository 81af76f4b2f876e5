// The servers that are compared: how each is started, and in which requests it speaks.
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hasCommand } from "./processes.mjs";
import { startApache, startNginx } from "./web-servers.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const plain = (folder) => (folder === "" ? "/" : `/${folder}/`);

/** Requests of a server that has its folder at the root. */
const speaks = {
  get: (path) => ({ method: "GET", path: `/${path}` }),
  put: (path) => ({ method: "PUT", path: `/${path}` }),
  list: (folder) => ({ method: "GET", path: plain(folder) }),
  propfind: (folder) => ({ method: "PROPFIND", path: plain(folder), headers: { Depth: "1" } }),
};

/** A peer in Node: a file below `bench/servers/`. */
function peer(id, title, requests) {
  const start = ({ folder }) => ({ command: process.execPath, args: [at(`../servers/${id}.mjs`), folder] });
  return { id, title, start, requests };
}

/** One of the ZIP writers of npm behind bare node:http. */
function zipPeer(writer) {
  const start = ({ folder }) => ({ command: process.execPath, args: [at("../servers/zip.mjs"), folder, writer] });
  return { id: `zip-${writer}`, title: writer, start, requests: { zip: speaks.list }, isZipWriter: true };
}

/** A command that writes an archive to its standard output. */
function zipCommand(id, title, command, ...args) {
  return { id, title, requests: {}, writesZip: (folder) => [command, [...args, folder]], needs: command };
}

/** A server from the system's packages. */
function webServer(id, title, command, start, requests) {
  return { id, title, start, requests, needs: command };
}

const FORM_BOUNDARY = "----fileferry";
const FORM_TYPE = `multipart/form-data; boundary=${FORM_BOUNDARY}`;
const formPart = (text) => `--${FORM_BOUNDARY}\r\nContent-Disposition: form-data; ${text}\r\n\r\n`;

/** A browser's form with one file. */
function formUpload(path) {
  const begin = `${formPart('name="action"')}upload-file\r\n${formPart('name="upload-file"; filename="0.bin"')}`;
  return { method: "POST", path, body: { type: FORM_TYPE, begin, end: `\r\n--${FORM_BOUNDARY}--\r\n` } };
}

/** A browser's form with many small files. Each name is that of the part's number. */
function smallFormUpload(path, count) {
  const content = "x".repeat(1024);
  const parts = Array.from(
    { length: count },
    (_, index) => `${formPart(`name="upload-file"; filename="${index}.bin"`)}${content}\r\n`,
  );
  const begin = `${formPart('name="action"')}upload-file\r\n${parts.join("")}--${FORM_BOUNDARY}--\r\n`;
  return { method: "POST", path, body: { type: FORM_TYPE, begin } };
}

/** The form that asks for members of a folder as an archive. */
function formDownload(path, member) {
  const fields = `${formPart('name="action"')}download-members\r\n${formPart('name="selected-members"')}${member}`;
  return { method: "POST", path, body: { type: FORM_TYPE, begin: `${fields}\r\n--${FORM_BOUNDARY}--\r\n` } };
}

const PERMISSIONS = [
  ["allow-list", "allow-read", "allow-write", "allow-create-folder", "allow-delete-file"],
  ["/archive/*", "allow-list", "allow-read"],
  ["*/private | */private/*", "deny-full-control"],
];

/** A server that accepts connections and never answers: a webhook for events that hangs. */
let silent;
async function silentUrl() {
  silent ??= await new Promise((resolve) => {
    const server = createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1", () => resolve(server));
    server.unref();
  });
  return `http://127.0.0.1:${silent.address().port}/`;
}

/** The password "bench", as the command prints it. */
const HASHED = "$scrypt$ln=13,r=8,p=10$cEcmaxZFJJNYgwDcflvlCw$MTf5pzegY0vqztD8UBy7phoYa1jrjbW7mtYc/PscH7w";

/**
 * This project, as its command serves it: with a session and permissions. Durability makes a difference to uploads
 * alone.
 */
function fileferry(id, title, durability, { dist, nodeArgs }, { toEvents, password = "bench", settings = {} } = {}) {
  async function start({ folder, own }) {
    const config = await toConfig({ folder, own });
    const file = join(own, "fileferry.json");
    writeFileSync(file, JSON.stringify(config));
    const args = [...nodeArgs, join(dist, "cli/main.js"), "serve", "--config", file, "--quiet"];
    return { command: process.execPath, args };
  }

  async function toConfig({ folder, own }) {
    return {
      ...settings,
      listen: { port: 0 },
      // All clients of the benchmark have one address.
      connections: { maxPerAddress: 0 },
      storage: { type: "disk", root: folder, durability },
      ...(toEvents && { events: await toEvents(own) }),
      authentication: [
        {
          type: "accounts",
          accounts: [{ username: "bench", password, home_folder_path: "/", permissions: PERMISSIONS }],
        },
      ],
    };
  }

  const requests = {
    get: (path) => ({ method: "GET", path: `/home/${path}` }),
    put: (path) => ({ method: "PUT", path: `/home/${path}` }),
    list: (folder) => ({ method: "GET", path: `/home/${folder}/`, headers: { Accept: "application/json" } }),
    zip: (folder) => formDownload("/home/", folder),
    form: (folder) => formUpload(`/home/${folder}/`),
    smallForm: (folder, count) => smallFormUpload(`/home/${folder}/`, count),
  };
  const { put, form, smallForm } = requests;
  const own = durability === "rename" ? { put, form, smallForm } : requests;
  return { id, title, start, toConfig, requests: own, login, isOwn: true };
}

/** Writes every event to a file, and sends it to a webhook that never answers. */
async function toHangingEvents(own) {
  return { file: join(own, "events.ndjson"), webhooks: [{ url: await silentUrl() }] };
}

/** Of that one, what shows whether events delay a transfer. */
function withEvents(server) {
  const { get, put } = server.requests;
  return { ...server, requests: { get, put } };
}

/** Of that one, uploads by PUT alone. */
function toPuts(server) {
  const { put } = server.requests;
  return { ...server, requests: { put } };
}

/** Of that one, uploads by PUT alone, with their SHA-256, which the server compares. */
function withDigests(server) {
  const { put } = server.requests;
  return { ...server, requests: { put: (path) => ({ ...put(path), hasDigest: true }) } };
}

/** Of that one, with HTTP Basic in each request in place of a session. */
function byBasic(server) {
  const { get, put } = server.requests;
  const login = async () => ({ Authorization: `Basic ${btoa("bench:bench")}` });
  return { ...server, requests: { get, put }, login };
}

/** Of that one, behind nginx, which sends files of `minBytes` and larger itself; none without it. */
function behindNginx({ toConfig, ...server }, dist, minBytes) {
  async function start({ folder, own }) {
    const config = await toConfig({ folder, own });
    const job = { dist, config, file: join(own, "fileferry.json"), own, root: folder, minBytes };
    return { command: process.execPath, args: [at("../servers/behind-nginx.mjs"), JSON.stringify(job)] };
  }

  const { get } = server.requests;
  return { ...server, start, requests: { get }, needs: "nginx", ownProgram: join(dist, "cli/main.js") };
}

/** Of that one, by a link that has all in its URL, in place of a session. */
function byLink(server) {
  let root = "";

  async function makeLink(running) {
    const { host, port } = running;
    const response = await fetch(`http://${host}:${port}/home/__svc__/links`, {
      method: "POST",
      headers: { ...(await login(running)), "Content-Type": "application/json", Connection: "close" },
      body: JSON.stringify({ path: "/" }),
    });
    const { results } = await response.json();
    root = new URL(results[0].url).pathname;
    return {};
  }

  const get = (path) => ({ method: "GET", path: `${root}${path}` });
  return { ...server, requests: { get }, login: makeLink };
}

/** One login for all requests. */
async function login({ host, port }) {
  const response = await fetch(`http://${host}:${port}/__svc__/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Connection: "close" },
    body: JSON.stringify({ username: "bench", password: "bench" }),
  });
  if (!response.ok) throw new Error(`The login was answered ${response.status}.`);
  const { results } = await response.json();
  return { Authorization: `session ${results[0].session}` };
}

/** This project, for more requests of one account at a time than it admits by default. */
export function createUnlimited(dist) {
  const settings = { limits: { transfersPerAccount: 0, transfersPerAddress: 0 } };
  return fileferry("fileferry-unlimited", "fileferry", "fsync", { dist, nodeArgs: [] }, { settings });
}

/**
 * @param dist the built package
 * @param nodeArgs for the process of this project, such as `--cpu-prof`
 */
export function createCatalog(dist, nodeArgs = []) {
  const { get, put, list, propfind } = speaks;
  return [
    fileferry("fileferry", "fileferry", "fsync", { dist, nodeArgs }),
    withEvents(
      fileferry(
        "fileferry-events",
        "fileferry, events to a file and to a webhook that hangs",
        "fsync",
        { dist, nodeArgs },
        { toEvents: toHangingEvents },
      ),
    ),
    fileferry("fileferry-rename", "fileferry, durability rename", "rename", { dist, nodeArgs }),
    toPuts(
      fileferry(
        "fileferry-quota",
        "fileferry, durability rename, with a quota",
        "rename",
        { dist, nodeArgs },
        { settings: { quota: { folders: [{ path: "/", bytes: 2 ** 50 }] } } },
      ),
    ),
    toPuts(
      fileferry(
        "fileferry-quota-fsync",
        "fileferry, with a quota",
        "fsync",
        { dist, nodeArgs },
        { settings: { quota: { folders: [{ path: "/", bytes: 2 ** 50 }] } } },
      ),
    ),
    toPuts(
      fileferry(
        "fileferry-versions",
        "fileferry, durability rename, with versions",
        "rename",
        { dist, nodeArgs },
        { settings: { versions: { keep: 2 } } },
      ),
    ),
    withDigests(fileferry("fileferry-digest", "fileferry, with digests", "fsync", { dist, nodeArgs })),
    byBasic(fileferry("fileferry-basic", "fileferry, by Basic", "fsync", { dist, nodeArgs }, { password: HASHED })),
    byBasic(
      fileferry("fileferry-basic-plain", "fileferry, by Basic, plain-text password", "fsync", { dist, nodeArgs }),
    ),
    byBasic(
      fileferry(
        "fileferry-basic-each",
        "fileferry, by Basic, plain-text password, none remembered",
        "fsync",
        { dist, nodeArgs },
        { settings: { basicCacheSeconds: 0 } },
      ),
    ),
    byLink(
      fileferry(
        "fileferry-link",
        "fileferry, by a link",
        "fsync",
        { dist, nodeArgs },
        { settings: { links: { secret: "the secret of the links of the benchmark" } } },
      ),
    ),
    ...[
      ["fileferry-behind-nginx", "fileferry behind nginx", undefined],
      ["fileferry-offload", "fileferry behind nginx, offload", 16_384],
      ["fileferry-offload-all", "fileferry behind nginx, offload of all files", 0],
    ].map(([id, title, minBytes]) => behindNginx(fileferry(id, title, "fsync", { dist, nodeArgs }), dist, minBytes)),
    peer("bare-tuned", "node:http, tuned", { get, put, list }),
    peer("bare-atomic", "node:http, temporary file and rename", { put }),
    peer("bare-naive", "node:http, naive", { get, put, list }),
    peer("express", "Express static", { get }),
    peer("sirv", "sirv", { get }),
    peer("hono", "hono static", { get }),
    peer("srvx", "srvx static", { get }),
    { ...peer("nephele", "nephele", { get, put, list: propfind }), isSlowToList: true },
    { ...peer("webdav-server", "webdav-server", { get, put, list: propfind }), isSlowToList: true },
    webServer("nginx", "nginx", "nginx", startNginx, { get, put, list }),
    webServer("apache", "Apache", "apache2", startApache, { get, put, list }),
    peer("busboy", "node:http with busboy", { form: (folder) => formUpload(`/${folder}/`) }),
    ...["yazl", "archiver", "client-zip", "fflate", "jszip", "zip.js"].map(zipPeer),
    zipCommand("bsdtar", "bsdtar", "bsdtar", "-cf", "-", "--format", "zip", "--options", "zip:compression=store"),
    zipCommand("zip", "zip -0", "zip", "-0", "-q", "-r", "-"),
  ];
}

/** Why a server cannot take part here, if it cannot. */
export function findObstacle({ needs, isOwn }, dist) {
  if (needs !== undefined && !hasCommand(needs)) return `${needs} is not installed`;
  if (isOwn && !existsSync(join(dist, "cli/main.js"))) return `${dist} is not built`;
  return undefined;
}
