import type { AccountSettings, GroupSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { LinkBody } from "../../../src/schemas/links.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { quickHasher } from "../../support/quick-hasher.ts";
import {
  type Answer,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

/** The URL path of the list of links. */
export const LINKS = "/home/__svc__/links";

export const JSON_TYPE = { "content-type": "application/json" };
export const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

const files = {
  "/alice/reports/a.csv": "1,2,3",
  "/alice/reports/2018/b.csv": "4,5,6",
  "/alice/private.txt": "nobody's business",
};

/** A service with links, for their owner alice. */
export interface OwnerSetting extends TestService {
  readonly events: FileEvent[];
  /** Makes a link by JSON. */
  create(body: object, options?: CallOptions): Promise<Answer>;
  /** Makes a link that has to be possible. */
  created(body: object, options?: CallOptions): Promise<LinkBody>;
  /** Sends the form of the page. */
  send(fields: readonly (readonly [string, string])[] | Record<string, string>, options?: CallOptions): Promise<Answer>;
}

/** What is special about a service, and about alice. */
export interface OwnerOptions extends TestServiceOptions {
  readonly alice?: AccountSettings;
  readonly group?: GroupSettings;
}

export async function setOwner({ alice = {}, group, links, ...options }: OwnerOptions = {}): Promise<OwnerSetting> {
  const events: FileEvent[] = [];
  const passwords = new Map([
    ["alice", "secret"],
    ["bob", "hunter2"],
  ]);
  const settings: AccountSettings = { home_folder_path: "/alice", ...alice };
  const test = await createTestService({
    files,
    onEvent: (event) => events.push(event),
    authentication: {
      name: "accounts of the test",
      async authenticate({ username, content }) {
        if (passwords.get(username) !== content) return { outcome: "rejected" };
        return { outcome: "accepted", account: username === "alice" ? settings : {} };
      },
      async lookup(username) {
        if (!passwords.has(username)) return { outcome: "unknown" };
        return { outcome: "found", account: username === "alice" ? settings : {} };
      },
    },
    ...(group && { groups: { DEFAULT_GROUP: group } }),
    links: links ?? { secret: LINK_SECRET, store: createMemoryKeyValueStore(), passwordHasher: quickHasher },
    ...options,
  });

  const create: OwnerSetting["create"] = (body, own = {}) =>
    test.call("POST", LINKS, {
      variant: "json",
      ...own,
      headers: { ...JSON_TYPE, ...own.headers },
      body: JSON.stringify(body),
    });

  return {
    ...test,
    events,
    create,
    async created(body, own) {
      const answer = await create(body, own);
      const [link] = answer.json<{ results?: LinkBody[] }>().results ?? [];
      if (link === undefined) throw new Error(`The link was not made: ${answer.status} ${answer.text}`);
      return link;
    },
    send: (fields, own = {}) =>
      test.call("POST", LINKS, {
        variant: "html",
        ...own,
        headers: { ...FORM_TYPE, ...own.headers },
        body: new URLSearchParams(fields as string[][] | Record<string, string>).toString(),
      }),
  };
}

/** The path of a URL. */
export function pathOf(url: string): string {
  return new URL(url).pathname;
}
