import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTrashStorage, type TrashOptions, type TrashStorage } from "../../../src/storage/trash.ts";
import {
  type Answer,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

export const TRASH = "/home/__svc__/trash";

/** A service with a trash, and its events. */
export interface TrashService extends TestService {
  readonly storage: TrashStorage;
  readonly events: readonly FileEvent[];
  /** Sends commands of the trash. */
  run(commands: readonly object[], options?: CallOptions): Promise<Answer>;
  /** The entries that an account sees: their IDs by their paths. */
  entries(as?: "alice" | "bob" | "root"): Promise<Readonly<Record<string, string>>>;
}

/** Creates a service with a trash in memory. */
export async function createTrashService(
  files: Readonly<Record<string, string>>,
  group: Readonly<Record<string, unknown>> = {},
  { links, webdav, ...options }: TrashOptions & Pick<TestServiceOptions, "links" | "webdav"> = {},
): Promise<TrashService> {
  const storage = createTrashStorage(createMemoryStorage(), options);
  const events: FileEvent[] = [];
  const test = await createTestService({
    storage,
    trash: storage.trash,
    files,
    groups: { DEFAULT_GROUP: group },
    onEvent: (event) => events.push(event),
    ...(links && { links }),
    ...(webdav && { webdav }),
  });
  const { call } = test;

  function run(commands: readonly object[], more: CallOptions = {}): Promise<Answer> {
    const headers = { "content-type": "application/json", ...more.headers };
    return call("POST", TRASH, { api: "rest", body: JSON.stringify({ commands }), ...more, headers });
  }

  async function entries(as: "alice" | "bob" | "root" = "alice"): Promise<Readonly<Record<string, string>>> {
    const { text } = await call("GET", TRASH, { as, api: "rest" });
    const { content } = JSON.parse(text) as { content: readonly { id: string; path: string }[] };
    return Object.fromEntries(content.map(({ id, path }) => [path, id]));
  }

  return { ...test, storage, events, run, entries };
}
