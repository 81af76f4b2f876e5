// The servers that are compared: how each is started, and in which requests it speaks.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
function peer(id, title, requests, ...more) {
  const start = ({ folder }) => ({ command: process.execPath, args: [at(`../servers/${id}.mjs`), folder, ...more] });
  return { id, title, start, requests };
}

const PERMISSIONS = [
  ["allow-list", "allow-read", "allow-write", "allow-create-folder", "allow-delete-file"],
  ["/archive/*", "allow-list", "allow-read"],
  ["*/private | */private/*", "deny-full-control"],
];

/** This project, as its command serves it: with a session and permissions. */
function fileferry(id, title, durability, { dist, nodeArgs }) {
  function start({ folder, own }) {
    const config = {
      listen: { port: 0 },
      storage: { type: "disk", root: folder, durability },
      authentication: [
        {
          type: "accounts",
          accounts: [{ username: "bench", password: "bench", home_folder_path: "/", permissions: PERMISSIONS }],
        },
      ],
    };
    const file = join(own, "fileferry.json");
    writeFileSync(file, JSON.stringify(config));
    const args = [...nodeArgs, join(dist, "cli/main.js"), "serve", "--config", file, "--quiet"];
    return { command: process.execPath, args };
  }
  const requests = {
    get: (path) => ({ method: "GET", path: `/home/${path}` }),
    put: (path) => ({ method: "PUT", path: `/home/${path}` }),
    list: (folder) => ({ method: "GET", path: `/home/${folder}/`, headers: { Accept: "application/json" } }),
  };
  return { id, title, start, requests, login, isOwn: true };
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

/**
 * @param dist the built package
 * @param nodeArgs for the process of this project, such as `--cpu-prof`
 */
export function createCatalog(dist, nodeArgs = []) {
  const { get, put, list } = speaks;
  return [
    fileferry("fileferry", "fileferry", "fsync", { dist, nodeArgs }),
    fileferry("fileferry-rename", "fileferry, durability rename", "rename", { dist, nodeArgs }),
    peer("bare-tuned", "node:http, tuned", { get, put, list }),
    peer("bare-naive", "node:http, naive", { get, put, list }),
  ];
}
