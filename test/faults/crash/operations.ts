import { FORM_TYPE, formOf, uploadsOf } from "../../support/forms.ts";
import { AUTHORIZATION } from "../../support/served.ts";
import type { Random } from "../cut-requests.ts";

/** What stands at a path: a file of this content, a folder, or nothing. */
export type State = Buffer | "folder" | undefined;

/** What has a lane's paths, by the last look. */
export type States = ReadonlyMap<string, State>;

/** A request that changes something in a lane, or only reads. */
export interface Operation {
  readonly name: string;
  /** What it makes of which path, where it succeeds; one that is cut off has done each of them or not. */
  readonly effects: readonly (readonly [path: string, state: State])[];
  /** Of what it moves, at least one of these paths has the content, whenever it is cut off. */
  readonly moved?: { readonly paths: readonly [from: string, to: string]; readonly content: State };
  /** Whether the answer must be a success. */
  readonly succeeds: boolean;
  /** Sends it to the lane at this URL, which ends in a slash. Rejects when no answer comes. */
  send(lane: string): Promise<number>;
}

/** What the trials of a kind mostly do. */
export type Kind = "uploads" | "overwrites" | "deletions" | "accounts";

const FILES = ["a.txt", "b.bin", "new.txt", "newer.bin"] as const;
const TREE_FILES = ["tree/1.txt", "tree/2.bin", "tree/deep/3.txt"] as const;
const SIZES = [0, 1, 4000, 70_000, 300_000, 1_500_000];

/** All paths that a lane may ever have. */
export const PATHS: readonly string[] = [...FILES, "tree", "tree/deep", ...TREE_FILES];

type Maker = (random: Random, states: States) => Operation;

const MAKERS: Readonly<Record<Kind, readonly Maker[]>> = {
  uploads: [putNew, putNew, putNew, putInTree, form, makeTree, archive, removeFile],
  overwrites: [overwrite, overwrite, overwrite, dripped, form, putInTree, archive],
  deletions: [removeFile, removeTree, removeTree, commands, makeTree, putInTree, putInTree, form],
  accounts: [overwrite, form, archive],
};

/** The next operation on a lane, of what the trials of a kind do. */
export function makeOperation(random: Random, kind: Kind, states: States): Operation {
  return random.pick(MAKERS[kind])(random, states);
}

/** An upload of these bytes. */
export function toPut(path: string, content: Buffer, states: States, isNew = false): Operation {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : undefined;
  const succeeds =
    (folder === undefined || states.get(folder) === "folder") && !(isNew && states.get(path) !== undefined);
  const headers: Record<string, string> = isNew ? { "If-None-Match": "*" } : {};
  return {
    name: `PUT ${path} of ${content.byteLength}${isNew ? ", if new" : ""}`,
    effects: succeeds ? [[path, content]] : [],
    succeeds,
    send: (lane) => send("PUT", `${lane}${path}`, headers, content),
  };
}

function putNew(random: Random, states: States): Operation {
  const path = random.pick(FILES.filter((name) => states.get(name) === undefined)) ?? random.pick(FILES);
  return toPut(path, contentOf(random), states, random.chance(0.6));
}

function overwrite(random: Random, states: States): Operation {
  const path = random.pick(FILES.filter((name) => states.get(name) !== undefined)) ?? random.pick(FILES);
  return toPut(path, contentOf(random), states);
}

function putInTree(random: Random, states: States): Operation {
  return toPut(random.pick(TREE_FILES), contentOf(random), states, random.chance(0.3));
}

/** An upload that takes its time, and says no length. */
function dripped(random: Random, states: States): Operation {
  const { name, effects, succeeds } = overwrite(random, states);
  const content = effects[0]?.[1] as Buffer;
  const size = Math.max(1, Math.ceil(content.byteLength / 5));
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < content.byteLength; at += size) {
      yield content.subarray(at, at + size);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  }
  const [path = ""] = effects[0] ?? [];
  return { name: `${name}, dripped`, effects, succeeds, send: (lane) => send("PUT", `${lane}${path}`, {}, parts()) };
}

/** The files of a form, each of which is there or not when it is cut off. */
export function form(random: Random, _states: States, count = 1 + random.below(FILES.length)): Operation {
  const files = Object.fromEntries(FILES.slice(0, count).map((name) => [name, contentOf(random)]));
  const body = formOf(["action", "upload-file"], ...uploadsOf(files));
  return {
    name: `form of ${Object.values(files).map(({ byteLength }) => byteLength)}`,
    effects: Object.entries(files),
    succeeds: true,
    send: (lane) => send("POST", lane, { "Content-Type": FORM_TYPE, Accept: "application/json" }, body),
  };
}

/** Removes a file that may not be there. */
export function removeFile(random: Random, states: States, path: string = random.pick(FILES)): Operation {
  const succeeds = states.get(path) !== undefined;
  return {
    name: `DELETE ${path}`,
    effects: succeeds ? [[path, undefined]] : [],
    succeeds,
    send: (lane) => send("DELETE", `${lane}${path}`),
  };
}

/** Removes a folder with all that is in it, which may be gone in part when it is cut off. */
export function removeTree(_random: Random, states: States): Operation {
  const succeeds = states.get("tree") === "folder";
  const paths = PATHS.filter((path) => path.startsWith("tree") && states.get(path) !== undefined);
  return {
    name: "DELETE tree/",
    effects: paths.map((path) => [path, undefined]),
    succeeds,
    send: (lane) => send("DELETE", `${lane}tree/`),
  };
}

/** Makes the next folder that is missing. */
export function makeTree(_random: Random, states: States): Operation {
  const path = states.get("tree") === undefined ? "tree" : "tree/deep";
  const succeeds = states.get(path) === undefined;
  return {
    name: `MKCOL ${path}/`,
    effects: succeeds ? [[path, "folder"]] : [],
    succeeds,
    send: (lane) => send("MKCOL", `${lane}${path}/`),
  };
}

/** Two commands in one request. */
export function commands(random: Random, states: States): Operation {
  const path = random.pick(FILES);
  const isThere = states.get(path) !== undefined;
  const body = JSON.stringify({
    commands: [
      { command: "create-folder-if-missing", target: "tree" },
      { command: "delete", target: path },
    ],
  });
  const removed = isThere ? ([[path, undefined]] as const) : [];
  return {
    name: `commands: tree, not ${path}`,
    effects: [["tree", "folder"], ...removed],
    succeeds: isThere,
    send: (lane) => send("POST", lane, { "Content-Type": "application/json", Accept: "application/json" }, body),
  };
}

/**
 * Moves a file over what is there. One that is cut off may have removed what it replaces, but never the file that it
 * moves.
 */
export function moveFile(states: States, from: string, to: string): Operation {
  const content = states.get(from);
  const succeeds = content instanceof Buffer && states.get(to) !== undefined;
  const below = PATHS.filter((path) => path.startsWith(`${to}/`) && states.get(path) !== undefined);
  const body = JSON.stringify({ commands: [{ command: "move", target: from, destination: to, overwrite: true }] });
  const effects: Operation["effects"] = [
    [from, undefined],
    ...below.map((path) => [path, undefined] as const),
    [to, undefined],
    [to, content],
  ];
  return {
    name: `move ${from} over ${to}`,
    effects: succeeds ? effects : [],
    succeeds,
    ...(succeeds && { moved: { paths: [from, to], content } }),
    send: (lane) => send("POST", lane, { "Content-Type": "application/json", Accept: "application/json" }, body),
  };
}

/** Removes whatever is at the path of the folder. */
export function clearTree(random: Random, states: States): Operation {
  return states.get("tree") instanceof Buffer ? removeFile(random, states, "tree") : removeTree(random, states);
}

function archive(): Operation {
  return {
    name: "archive",
    effects: [],
    succeeds: true,
    send: (lane) => send("GET", lane, { Accept: "application/zip" }),
  };
}

function contentOf(random: Random): Buffer {
  const size = random.pick(SIZES);
  // Each differs from each other one from its beginning to its end, but for the shortest.
  return Buffer.alloc(size, random.bytes(64));
}

/** Sends a request. Returns its status when an answer has started. */
async function send(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: Uint8Array | string | AsyncIterable<Uint8Array>,
): Promise<number> {
  const sent = body === undefined ? {} : { body: body as BodyInit, duplex: "half" };
  const response = await fetch(url, {
    method,
    headers: { Accept: "application/json", Authorization: AUTHORIZATION, ...headers },
    ...sent,
  } as RequestInit);
  // A status that has arrived counts, even if the rest of the answer is cut off.
  await response.arrayBuffer().catch(() => undefined);
  return response.status;
}
