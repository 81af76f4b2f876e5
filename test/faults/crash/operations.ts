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
  /** What the lane may have when it is cut off, all paths at once. Absent: any of the effects. */
  readonly outcomes?: readonly States[];
  /** Whether the answer must be a success. */
  readonly succeeds: boolean;
  /** Sends it to the lane at this URL, which ends in a slash. Rejects when no answer comes. */
  send(lane: string): Promise<number>;
}

/** What the trials of a kind mostly do. */
export type Kind = "uploads" | "overwrites" | "deletions" | "moves" | "accounts";

const FILES = ["a.txt", "b.bin", "new.txt", "newer.bin"] as const;
const TREE_FILES = ["tree/1.txt", "tree/2.bin", "tree/deep/3.txt"] as const;
/** What is moved and copied over one another: each a file, or a folder with these members. */
const PLACES = ["left", "right"] as const;
const PLACE_FOLDERS = ["", "/deep"] as const;
const PLACE_FILES = ["/1.txt", "/deep/2.txt"] as const;
const SIZES = [0, 1, 4000, 70_000, 300_000, 1_500_000];

/** All paths that a lane may ever have. */
export const PATHS: readonly string[] = [
  ...[...FILES, "tree", "tree/deep", ...TREE_FILES],
  ...PLACES.flatMap((place) => [...PLACE_FOLDERS, ...PLACE_FILES].map((member) => `${place}${member}`)),
];

type Maker = (random: Random, states: States) => Operation;

const MAKERS: Readonly<Record<Kind, readonly Maker[]>> = {
  uploads: [putNew, putNew, putNew, putInTree, form, makeTree, archive, removeFile],
  overwrites: [overwrite, overwrite, overwrite, dripped, form, putInTree, archive],
  deletions: [removeFile, removeTree, removeTree, commands, makeTree, putInTree, putInTree, form],
  moves: [fillPlace, fillPlace, fillPlace, fillPlace, transferPlace, transferPlace, overwrite],
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
  return removeFolder("tree", states);
}

export function removeFolder(path: string, states: States): Operation {
  const succeeds = states.get(path) === "folder";
  return {
    name: `DELETE ${path}/`,
    effects: treeOf(path, states).map(([member]) => [member, undefined]),
    succeeds,
    send: (lane) => send("DELETE", `${lane}${path}/`),
  };
}

/** What is at a path and below it. */
function treeOf(path: string, states: States): readonly (readonly [path: string, state: State])[] {
  const isThere = (member: string) => states.get(member) !== undefined;
  const paths = PATHS.filter((member) => (member === path || member.startsWith(`${path}/`)) && isThere(member));
  return paths.map((member) => [member, states.get(member)]);
}

/** Makes the next folder that is missing. */
export function makeTree(_random: Random, states: States): Operation {
  return makeFolder(states.get("tree") === undefined ? "tree" : "tree/deep", states);
}

export function makeFolder(path: string, states: States): Operation {
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

/** How a client asks for a move or a copy that replaces what is there. */
type Way = "command" | "WebDAV";

/**
 * Moves or copies a file or folder over what is there. If it is cut off, what it replaces may be gone, but each of both
 * places has one thing as a whole, or nothing; and what it moves is at one of them. A file replaces a file in one step.
 */
export function transfer(verb: "move" | "copy", from: string, to: string, states: States, way: Way): Operation {
  const [source, replaced] = [treeOf(from, states), treeOf(to, states)];
  const succeeds = source.length > 0 && replaced.length > 0;
  const gone = replaced.map(([path]) => [path, undefined] as const);
  const effects: Operation["effects"] = [
    ...(verb === "move" ? source.map(([path]) => [path, undefined] as const) : []),
    ...gone,
    ...source.map(([path, state]) => [`${to}${path.slice(from.length)}`, state] as const),
  ];
  const isOneStep = [from, to].every((path) => states.get(path) instanceof Buffer);
  const steps = isOneStep ? [[], effects] : [[], gone, effects];
  const body = JSON.stringify({ commands: [{ command: verb, target: from, destination: to, overwrite: true }] });
  return {
    name: `${verb} ${from} over ${to}, ${way}`,
    effects: succeeds ? effects : [],
    succeeds,
    outcomes: succeeds ? steps.map((step) => new Map([...states, ...step])) : [states],
    send: (lane) =>
      way === "WebDAV"
        ? send(verb.toUpperCase(), `${lane}${from}`, { Destination: `${lane}${to}`, Overwrite: "T" })
        : send("POST", lane, { "Content-Type": "application/json" }, body),
  };
}

/** Makes a place a file or a folder, or what is missing in the folder. */
function fillPlace(random: Random, states: States): Operation {
  const place = random.pick(PLACES);
  const isFile = states.get(place) !== "folder" && random.chance(0.4);
  if (isFile) return toPut(place, contentOf(random), states);
  if (states.get(place) instanceof Buffer) return removeFile(random, states, place);
  if (random.chance(0.2) && states.get(place) === "folder") return removeFolder(place, states);
  const folder = PLACE_FOLDERS.find((member) => states.get(`${place}${member}`) === undefined);
  if (folder !== undefined) return makeFolder(`${place}${folder}`, states);
  return toPut(`${place}${random.pick(PLACE_FILES)}`, contentOf(random), states);
}

/** Moves or copies a place over the other one, if both are there. */
function transferPlace(random: Random, states: States): Operation {
  const isLeft = random.chance(0.5);
  const [from, to] = isLeft ? PLACES : ([PLACES[1], PLACES[0]] as const);
  if (PLACES.some((place) => states.get(place) === undefined)) return fillPlace(random, states);
  return transfer(random.pick(["move", "move", "copy"]), from, to, states, random.pick(["command", "WebDAV"]));
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
