import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createVersionsStorage, type VersionsOptions, type VersionsStorage } from "../../../src/storage/versions.ts";
import {
  type Answer,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

/** Where the files of a service are. */
export type Medium = "memory" | "disk";
export const media: readonly Medium[] = ["memory", "disk"];

/** The URL of the versions of a file, by the path in its account. */
export function versionsOf(path: string, id?: string): string {
  return `/home/__svc__/versions${id === undefined ? "" : `/${id}`}?path=${encodeURIComponent(path)}`;
}

/** A version as a client gets it. */
export interface ShownVersion {
  readonly id: string;
  readonly modified: number;
  readonly size: number;
}

/** A service with versions, and its events. */
export interface VersionsService extends TestService {
  readonly storage: VersionsStorage;
  readonly events: readonly FileEvent[];
  /** Writes contents to a file one after the other. */
  put(path: string, ...contents: readonly string[]): Promise<void>;
  /** The versions of a file, the newest first. */
  versions(path: string, options?: CallOptions): Promise<readonly ShownVersion[]>;
  /** The contents of the versions of a file, the newest first. */
  contents(path: string, options?: CallOptions): Promise<readonly string[]>;
  /** Sends commands for the versions of a file. */
  run(path: string, commands: readonly object[], options?: CallOptions): Promise<Answer>;
}

const rest = { api: "rest" } as const;

/** What a service with versions may have of its own. */
export interface VersionsServiceOptions extends TestServiceOptions {
  readonly medium?: Medium;
  readonly group?: Readonly<Record<string, unknown>>;
  readonly keeping?: VersionsOptions;
  /** What is between the medium and the versions. */
  readonly around?: (storage: StorageAdapter) => StorageAdapter;
  /** Called with the folder of the files on a disk. */
  readonly onDisk?: (root: string) => void;
}

/** Creates a service with versions. Its files are alice's, by their paths in her account. */
export async function createVersionsService(
  files: Readonly<Record<string, string>> = {},
  {
    medium = "memory",
    group = {},
    keeping,
    around = (storage) => storage,
    onDisk,
    ...own
  }: VersionsServiceOptions = {},
): Promise<VersionsService> {
  const storage = createVersionsStorage(around(await openMedium(medium, onDisk)), keeping);
  const events: FileEvent[] = [];
  const test = await createTestService({
    storage,
    versions: storage.versions,
    files: Object.fromEntries(Object.entries(files).map(([path, content]) => [`/alice${path}`, content])),
    groups: { DEFAULT_GROUP: group },
    onEvent: (event) => events.push(event),
    ...own,
  });
  const { call } = test;

  async function put(path: string, ...contents: readonly string[]): Promise<void> {
    for (const body of contents) {
      const { status, text } = await call("PUT", `/home${path}`, { ...rest, body });
      if (status !== 201) throw new Error(`PUT ${path}: ${status} ${text}`);
    }
  }

  async function versions(path: string, options: CallOptions = {}): Promise<readonly ShownVersion[]> {
    const { status, text } = await call("GET", versionsOf(path), { ...rest, ...options });
    if (status !== 200) throw new Error(`${status} ${text}`);
    return (JSON.parse(text) as { content: readonly ShownVersion[] }).content;
  }

  async function contents(path: string, options: CallOptions = {}): Promise<readonly string[]> {
    const found = await versions(path, options);
    const answers = await Promise.all(
      found.map(({ id }) => call("GET", versionsOf(path, id), { ...rest, ...options })),
    );
    return answers.map(({ text }) => text);
  }

  function run(path: string, commands: readonly object[], more: CallOptions = {}): Promise<Answer> {
    const headers = { "content-type": "application/json", ...more.headers };
    return call("POST", versionsOf(path), { ...rest, body: JSON.stringify({ commands }), ...more, headers });
  }

  return { ...test, storage, events, put, versions, contents, run };
}

async function openMedium(medium: Medium, onDisk?: (root: string) => void): Promise<StorageAdapter> {
  if (medium === "memory") return createMemoryStorage();
  const root = await mkdtemp(join(tmpdir(), "fileferry-versions-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  onDisk?.(root);
  return createDiskStorage({ root, durability: "rename" });
}

/** The messages of the results of commands. */
export function messagesOf({ text }: Answer): readonly (string | null)[] {
  const { results, errors } = JSON.parse(text) as Record<
    "results" | "errors",
    { message: string | null }[] | undefined
  >;
  return (errors ?? results ?? []).map(({ message }) => message);
}
