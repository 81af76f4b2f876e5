import {
  type AccountAct,
  type Condition,
  type Delete,
  type FileAct,
  type Get,
  type Operation,
  type Put,
  SHARED,
  type User,
} from "./operations.ts";

/** What is at a path. A version is one content that a client has sent. */
export type Node =
  | { readonly kind: "folder" }
  | { readonly kind: "file"; readonly version: string; readonly text: string; readonly etag?: string | undefined };

/** All that the service keeps. Never changed: what changes it makes another. */
export interface State {
  /** By the paths of the storage. */
  readonly tree: ReadonlyMap<string, Node>;
  readonly passwords: ReadonlyMap<User, string>;
  /** Those that live. */
  readonly sessions: ReadonlyMap<string, User>;
}

/** An operation with what it is made of when it is sent. */
export interface Asked {
  readonly operation: Operation;
  /** The contents that it sends, each with a version of its own. */
  readonly contents: readonly { readonly version: string; readonly text: string }[];
  /** The entity-tag that its condition names. */
  readonly tag: string;
  /** The session it comes by; without one its password. */
  readonly session?: string;
  readonly password: string;
  readonly newPassword: string;
}

/** What the client got that the next state depends on. */
export interface Given {
  readonly etag?: string | undefined;
  readonly session?: string | undefined;
}

/** What has to come of an operation. */
export interface Prediction {
  readonly status: number;
  /**
   * Possible as well while others change the same, and then it changes nothing: it looks several times, and the storage
   * as often.
   */
  readonly orElse?: readonly number[];
  /** Of a file. */
  readonly content?: Extract<Node, { kind: "file" }>;
  readonly part?: string;
  readonly state: State;
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Where the shared folder shows. */
  readonly isMount: boolean;
  may(what: "read" | "write" | "create-folder" | "delete-file" | "delete-folder"): boolean;
}

const CONFLICT = { json: 422, webdav: 409 } as const;
const EXISTS = { json: 422, webdav: 405 } as const;
const SHARED_PERMISSIONS: Readonly<Record<User, readonly string[]>> = {
  alice: ["read", "write", "create-folder", "delete-file", "delete-folder"],
  bob: ["read"],
  carol: ["write", "create-folder"],
};

export function toPlace(user: User, path: string): Place {
  const [first, ...rest] = path.split("/").filter(Boolean);
  const isShared = first === SHARED[user];
  const inside = isShared ? rest : path.split("/").filter(Boolean);
  return {
    path: `/${[isShared ? "shared" : user, ...inside].join("/")}`,
    isRoot: first === undefined,
    isMount: isShared && rest.length === 0,
    may: (what) => !isShared || SHARED_PERMISSIONS[user].includes(what),
  };
}

/** The members of a folder as a listing shows them, sorted. */
export function membersOf(state: State, user: User, path: string): readonly string[] {
  const { path: folder, isRoot } = toPlace(user, path);
  const own = [...state.tree].filter(([one]) => parentOf(one) === folder);
  const shown = own.map(([one, node]) => toMember(one.slice(one.lastIndexOf("/") + 1), node));
  return [...shown, ...(isRoot ? [toMember(SHARED[user], { kind: "folder" })] : [])].sort();
}

export function toMember(name: string, node: Node): string {
  return `${name} ${node.kind} ${node.kind === "file" ? node.text.length : 0}`;
}

/** What has to come of an operation in a state; of one with several targets, what comes in front of them: `proceed`. */
export function predict(state: State, asked: Asked, given: Given): Prediction | "proceed" {
  const { act, user } = asked.operation;
  const isLive = asked.session !== undefined && state.sessions.get(asked.session) === user;
  if (act.kind === "login" || act.kind === "logout" || act.kind === "change-password") {
    return predictAccess(state, asked, act, isLive, given);
  }
  const isKnown = asked.session === undefined ? asked.password === state.passwords.get(user) : isLive;
  return isKnown ? predictFiles(state, asked, act, given) : { status: 401, state };
}

function predictAccess(state: State, asked: Asked, act: AccountAct, isLive: boolean, given: Given): Prediction {
  const { user } = asked.operation;
  if (act.kind === "login") {
    if (!act.isRight) return { status: 401, state };
    const { session } = given;
    if (session === undefined) return { status: 200, state };
    return { status: 200, state: { ...state, sessions: new Map([...state.sessions, [session, user]]) } };
  }
  if (!isLive) return { status: 401, state };
  if (act.kind === "logout") {
    const others = [...state.sessions].filter(([id]) => id !== asked.session);
    return { status: 204, state: { ...state, sessions: new Map(others) } };
  }
  if (!act.isRight) return { status: 422, state };
  const left = [...state.sessions].filter(([id, whose]) => id === asked.session || whose !== user);
  const passwords = new Map([...state.passwords, [user, asked.newPassword]] as const);
  return { status: 200, state: { ...state, passwords, sessions: new Map(left) } };
}

function predictFiles(state: State, asked: Asked, act: FileAct, given: Given): Prediction | "proceed" {
  const { path } = toPlace(asked.operation.user, act.path);
  const isFolder = state.tree.get(path)?.kind === "folder";
  switch (act.kind) {
    case "put":
      return predictPut(state, asked, act, given);
    case "get":
    case "head":
      return predictGet(state, asked, act);
    case "list":
      return { status: isFolder ? 200 : 404, state };
    case "commands":
    case "upload":
      return isFolder ? "proceed" : { status: 404, state };
    case "make-folder":
      return predictMakeFolder(state, asked, act.path);
    case "delete":
      return predictDelete(state, asked, act);
    case "delete-folder": {
      const { isRoot, isMount, may } = toPlace(asked.operation.user, act.path);
      if (isRoot || !may("delete-folder")) return { status: 403, state };
      // Several who remove one tree remove it together.
      if (!isFolder) return { status: 404, orElse: [204], state };
      return isMount ? { status: 403, state } : { status: 204, state: withoutTree(state, path) };
    }
  }
}

function predictMakeFolder(state: State, { operation: { user, variant } }: Asked, own: string): Prediction {
  const { path, isRoot, may } = toPlace(user, own);
  if (isRoot) return { status: EXISTS[variant], state };
  if (!may("create-folder")) return { status: 403, state };
  if (state.tree.has(path)) return { status: EXISTS[variant], state };
  if (!hasParent(state, path)) return { status: CONFLICT[variant], state };
  return { status: 201, state: withNode(state, path, { kind: "folder" }) };
}

function predictPut(state: State, asked: Asked, act: Put, { etag }: Given): Prediction {
  const { user, variant } = asked.operation;
  const { path, may } = toPlace(user, act.path);
  const node = state.tree.get(path);
  const conflict = { status: CONFLICT[variant], state };
  if (node?.kind === "folder") return conflict;
  if (!may("write")) return { status: 403, state };
  const hasPlace = hasParent(state, path);
  if (!isMet(asked, act.condition, node)) return { status: 412, state, orElse: hasPlace ? [] : [CONFLICT[variant]] };
  if (!hasPlace) return conflict;
  if (act.body !== "whole") return { status: 400, state };
  const [content = { version: "", text: "" }] = asked.contents;
  return { status: 201, state: withNode(state, path, { kind: "file", ...content, etag }) };
}

function predictGet(state: State, asked: Asked, act: Get | Extract<FileAct, { kind: "head" }>): Prediction {
  const { path, may } = toPlace(asked.operation.user, act.path);
  const node = state.tree.get(path);
  if (node?.kind === "folder") return { status: 302, state };
  if (!may("read")) return { status: 403, state };
  if (node === undefined) return { status: 404, state };
  if (act.kind === "head") return { status: 200, state, content: node };
  if (!isMet(asked, act.condition, node)) {
    return { status: act.condition === "absent" || act.condition === "unchanged" ? 304 : 412, state };
  }
  if (act.range === null) return { status: 200, state, content: node, part: node.text };
  const [first, length] = act.range;
  if (first >= node.text.length) return { status: 416, state };
  return { status: 206, state, content: node, part: node.text.slice(first, first + length + 1) };
}

function predictDelete(state: State, asked: Asked, act: Delete): Prediction {
  const { path, may } = toPlace(asked.operation.user, act.path);
  const node = state.tree.get(path);
  if (node?.kind === "folder") return { status: 307, state, orElse: [404, 412] };
  if (!may("delete-file")) return { status: 403, state };
  // The version that the condition was met by may have gone, or been replaced by another that meets it.
  const orElse = act.condition === "none" ? [] : [412];
  if (node === undefined) return { status: 404, state, orElse };
  if (!isMet(asked, act.condition, node)) return { status: 412, state };
  return { status: 204, orElse, state: withoutTree(state, path) };
}

/** RFC 9110 13.1. */
function isMet({ tag }: Asked, condition: Condition, node: Node | undefined): boolean {
  const etag = node?.kind === "file" ? node.etag : undefined;
  switch (condition) {
    case "none":
      return true;
    case "absent":
      return node?.kind !== "file";
    case "present":
      return node?.kind === "file";
    case "current":
    case "former":
      return etag === tag;
    case "unchanged":
      return etag !== tag;
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export function hasParent({ tree }: State, path: string): boolean {
  return tree.get(parentOf(path))?.kind === "folder";
}

export function withNode(state: State, path: string, node: Node): State {
  return { ...state, tree: new Map(state.tree).set(path, node) };
}

export function withoutTree(state: State, path: string): State {
  const tree = [...state.tree].filter(([one]) => one !== path && !one.startsWith(`${path}/`));
  return { ...state, tree: new Map(tree) };
}
