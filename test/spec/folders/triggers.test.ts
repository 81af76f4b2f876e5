import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import type { Trigger, TriggerContext, TriggerMember } from "../../../src/contracts/trigger.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type FormEntry, sendForm, sendFormForJson } from "../../support/forms.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { type Answer, createTestService, type TestService } from "../../support/service.ts";

const files = { "/alice/f/a": "x", "/alice/f/b": "x", "/alice/f/sub/c": "x" };
const failed = expect.stringMatching(/./);
const peer = { address: "192.0.2.7", port: 4711, family: "IPv4", protocol: "TCP" } as const;

function command(test: TestService, commands: readonly object[], path = "/home/f/"): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  return test.call("POST", path, {
    body: JSON.stringify({ commands }),
    variant: "json",
    headers,
    connection: { peer },
  });
}

function form(name: string, ...members: readonly string[]): readonly FormEntry[] {
  return [["action", name], ...members.map((member) => ["selected-members", member] as const)];
}

/** A trigger that records its calls. */
function recorded(): { readonly trigger: Trigger; readonly calls: [TriggerContext, readonly TriggerMember[]][] } {
  const calls: [TriggerContext, readonly TriggerMember[]][] = [];
  return { calls, trigger: { run: (context, members) => void calls.push([context, members]) } };
}

const failing: Trigger = {
  async run(_context, [member]) {
    if (member?.name === "a") throw new HttpError("denied", "Not on a Friday.");
    if (member?.name === "b") throw new Error("the database at 10.0.0.1 is down");
    if (member?.name === "sub") throw new StorageError("no-space", "/srv/secret");
  },
};

describe("a custom trigger", () => {
  it("runs on each named member, by POST command with a list or a single target (4.3)", async () => {
    const { trigger, calls } = recorded();
    const test = await createTestService({ files, triggers: { approve: trigger } });
    const answer = await command(test, [
      { command: "approve", target: ["b", "a"] },
      { command: "approve", target: "sub" },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ results: ["b", "a", "sub"].map((target) => ({ target, message: null })) });
    expect(calls.map(([, members]) => members)).toEqual([
      [{ name: "b", kind: "file", path: "/f/b" }],
      [{ name: "a", kind: "file", path: "/f/a" }],
      [{ name: "sub", kind: "folder", path: "/f/sub" }],
    ]);
  });

  it("runs on the selected members of a form, and the answer goes back to the folder (4.6)", async () => {
    const { trigger, calls } = recorded();
    const test = await createTestService({ files, triggers: { approve: trigger } });
    const answer = await sendForm(test, "/home/f/", form("approve", "a", "sub"));
    expect([answer.status, answer.header("location")]).toEqual([303, "/home/f/?done=triggered"]);
    expect(calls.map(([, members]) => members[0]?.name)).toEqual(["a", "sub"]);
    const json = await sendFormForJson(test, "/home/f/", form("approve", "b"));
    expect([json.status, json.json()]).toEqual([200, { results: [{ target: "b", message: null }] }]);
  });

  it("is told who asks, and where", async () => {
    const { trigger, calls } = recorded();
    const test = await createTestService({ files: { ...files, "/alice/a": "x" }, triggers: { approve: trigger } });
    await command(test, [{ command: "approve", target: "a" }]);
    await command(test, [{ command: "approve", target: "a" }], "/home/");
    expect(calls[0]?.[0]).toMatchObject({
      trigger: "approve",
      account: { name: "alice", uuid: "alice", email: "", group: "DEFAULT_GROUP" },
      folder: "/f",
    });
    expect(calls[0]?.[0].signal.aborted).toBe(false);
    expect(calls[1]?.[0].folder).toBe("/");
    expect(calls[1]?.[1]).toEqual([{ name: "a", kind: "file", path: "/a" }]);
  });

  it("runs in order with other commands, each one's failure leaving the following ones (4.3, CONTRACT 4.5)", async () => {
    const seen: unknown[] = [];
    const run: Trigger["run"] = (_context, [member]) => void seen.push(member?.name);
    const test = await createTestService({ files, triggers: { approve: { run } } });
    const answer = await command(test, [
      { command: "create-folder", target: "new" },
      { command: "approve", target: ["new", "missing"] },
      { command: "delete", target: "new" },
      { command: "approve", target: "new" },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      errors: [
        { target: "new", message: null },
        { target: "new", message: null },
        { target: "missing", message: failed },
        { target: "new", message: null },
        { target: "new", message: failed },
      ],
    });
    expect(seen).toEqual(["new"]);
  });

  it("does nothing beside its event without a function of its own", async () => {
    const test = await createTestService({ files, triggers: { approve: { label: "Approve", style: "success" } } });
    expect((await command(test, [{ command: "approve", target: "a" }])).status).toBe(200);
  });

  it("may be a method of an object with a state of its own", async () => {
    class Counter implements Trigger {
      count = 0;
      run(): void {
        this.count++;
      }
    }
    const counter = new Counter();
    const test = await createTestService({ files, triggers: { count: counter } });
    await command(test, [{ command: "count", target: ["a", "b"] }]);
    expect(counter.count).toBe(2);
  });
});

describe("a member that a trigger fails for", () => {
  it("has the message of an HttpError, and a blank one for anything else, which is logged (4.3, SECURITY 14)", async () => {
    const test = await createTestService({ files, triggers: { approve: failing } });
    const answer = await command(test, [{ command: "approve", target: ["a", "b", "sub"] }]);
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      errors: [
        { target: "a", message: "Not on a Friday." },
        { target: "b", message: expect.stringMatching(/^Internal error [\w-]+\.$/) },
        { target: "sub", message: expect.stringMatching(/^Internal error [\w-]+\.$/) },
      ],
    });
    expect(answer.text).not.toMatch(/10\.0\.0\.1|srv/);
    expect(test.log.text()).toContain("the database at 10.0.0.1 is down");
    expect(test.log.text()).toContain("The trigger approve failed.");
  });

  it("is no defect if it fails because the client disconnects", async () => {
    const client = new AbortController();
    const events: FileEvent[] = [];
    const approve: Trigger = {
      async run({ signal }) {
        client.abort();
        signal.throwIfAborted();
      },
    };
    const test = await createTestService({ files, triggers: { approve }, onEvent: (event) => events.push(event) });
    await test.call("POST", "/home/f/", {
      body: JSON.stringify({ commands: [{ command: "approve", target: "a" }] }),
      headers: { "content-type": "application/json" },
      signal: client.signal,
      undescribed: "The client disconnects.",
    });
    expect(events.at(-1)).toMatchObject({ id: 40043, data: { details: "The client disconnected." } });
    expect(test.log.text()).toBe("[]");
  });

  it("is named on the folder's page (4.6)", async () => {
    const test = await createTestService({ files, triggers: { approve: failing } });
    const one = await sendForm(test, "/home/f/", form("approve", "a"));
    expect(one.status).toBe(422);
    expect(one.text).toContain("Not on a Friday.");
    expect((await sendForm(test, "/home/f/", form("approve", "a", "b"))).status).toBe(400);
    expect((await sendForm(test, "/home/f/", form("approve"))).status).toBe(400);
  });

  it("never changes the answer otherwise: an error that means 401 elsewhere does not log anybody out", async () => {
    const run = () => {
      throw Object.assign(new Error("No."), { name: "HttpError", failure: "nonsense", headers: {} });
    };
    const refuse = () => {
      throw new HttpError("unauthorized", "No.");
    };
    const test = await createTestService({ files, triggers: { odd: { run }, refuse: { run: refuse } } });
    for (const name of ["odd", "refuse"]) {
      const answer = await sendForm(test, "/home/f/", form(name, "a"));
      expect([answer.status, answer.header("www-authenticate")]).toEqual([422, null]);
      expect(answer.text).toContain("No.");
    }
  });

  it("fails alone when the account may not read it, and the trigger does not run for it (CONTRACT 7.4)", async () => {
    const { trigger, calls } = recorded();
    const accounts = [
      {
        username: "alice",
        password: "secret",
        home_folder_path: "/alice",
        permissions: [["allow-full-control"], ["/f/b", "allow-list"]],
      },
    ];
    const authentication = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
    const test = await createTestService({ files, authentication, triggers: { approve: trigger } });
    const answer = await command(test, [{ command: "approve", target: ["a", "b"] }]);
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      errors: [
        { target: "a", message: null },
        { target: "b", message: failed },
      ],
    });
    expect(calls.map(([, [member]]) => member?.name)).toEqual(["a"]);
  });

  it("is handed on once, however often a form names it (4.6)", async () => {
    const { trigger, calls } = recorded();
    const test = await createTestService({ files, triggers: { approve: trigger } });
    expect((await sendForm(test, "/home/f/", form("approve", "a", "a", "a"))).status).toBe(303);
    expect(calls).toHaveLength(1);
  });

  it("fails alone when it is missing or badly named, and the trigger does not run for it (CONTRACT 4.5)", async () => {
    const { trigger, calls } = recorded();
    const test = await createTestService({ files, triggers: { approve: trigger } });
    const target = ["missing", "", "..", "sub/c", "a\0", "A", "a"];
    const answer = await command(test, [{ command: "approve", target }]);
    expect(answer.json()).toEqual({
      errors: target.map((name) => ({ target: name, message: name === "a" ? null : failed })),
    });
    const atRoot = await command(test, [{ command: "approve", target: "__svc__" }], "/home/");
    expect(atRoot.json()).toEqual({ errors: [{ target: "__svc__", message: failed }] });
    expect(calls).toHaveLength(1);
  });
});

describe("event 40043", () => {
  it("tells of every member that a trigger was run on, and how it ended (6, CONTRACT 8)", async () => {
    const events: FileEvent[] = [];
    const onEvent = (event: FileEvent) => void (event.id === 40043 && events.push(event));
    const uuid = "dff314a6-c594-48dc-8e34-5270fd6cb635";
    const test = await createTestService({ files, onEvent, component: { uuid }, triggers: { approve: failing } });
    await command(test, [{ command: "approve", target: ["a", "missing", "b"] }]);
    await sendForm(test, "/home/f/sub/", form("approve", "c"), { scheme: "https" });
    const account = { uuid: "alice", name: "alice", email: "" };
    expect(events).toMatchObject([
      {
        id: 40043,
        message: failed,
        account: { ...account, peer },
        component: { uuid, type: "http" },
        data: { trigger: "approve", path: "/f/a", details: "Not on a Friday." },
      },
      { data: { trigger: "approve", path: "/f/b", details: expect.stringMatching(/^Internal error/) } },
      { account, component: { uuid, type: "https" }, data: { trigger: "approve", path: "/f/sub/c", details: null } },
    ]);
    expect(events).toHaveLength(3);
    expect(typeof events[0]?.timestamp.timestamp).toBe("number");
  });
});

describe("the groups of a trigger", () => {
  const accounts = [
    { username: "alice", password: "secret", home_folder_path: "/alice", group: "staff" },
    { username: "bob", password: "hunter2", home_folder_path: "/alice" },
  ];
  const authentication = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });

  function withGroups(groups: readonly string[]) {
    const { trigger, calls } = recorded();
    const options = { files, authentication, groups: { staff: {} }, triggers: { approve: { ...trigger, groups } } };
    return { calls, test: createTestService(options) };
  }

  it.each<readonly [groups: readonly string[], may: readonly ("alice" | "bob")[]]>([
    [[], ["alice", "bob"]],
    [["staff"], ["alice"]],
    [["DEFAULT_GROUP"], ["bob"]],
    [
      ["staff", "DEFAULT_GROUP"],
      ["alice", "bob"],
    ],
  ])("%j have it, and for all others it is an unknown command: 400, and nothing is done (4.3)", async (groups, may) => {
    const { calls, test } = withGroups(groups);
    const service = await test;
    for (const as of ["alice", "bob"] as const) {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({
        commands: [
          { command: "delete", target: "no" },
          { command: "approve", target: "a" },
        ],
      });
      const status = may.includes(as) ? [422, 303, 200] : [400, 400, 400];
      const byCommand = await service.call("POST", "/home/f/", { as, variant: "json", headers, body });
      const byForm = await sendForm(service, "/home/f/", form("approve", "a"), { as });
      const byJsonForm = await sendFormForJson(service, "/home/f/", form("approve", "a"), { as });
      expect([byCommand.status, byForm.status, byJsonForm.status]).toEqual(status);
      const unknown = await sendFormForJson(service, "/home/f/", form("unknown", "a"), { as });
      if (!may.includes(as)) expect(byJsonForm.text).toBe(unknown.text);
      const page = await service.call("GET", "/home/f/", { as, variant: "html" });
      expect(page.text.includes("approve")).toBe(may.includes(as));
    }
    expect(calls).toHaveLength(3 * may.length);
  });
});

describe("trigger commands that are not well formed", () => {
  it.each<readonly [what: string, target: unknown]>([
    ["an empty list", []],
    ["a list with a number", ["a", 1]],
    ["a list in a list", [["a"]]],
    ["null", null],
    ["an object", { a: "b" }],
    ["1,001 targets", Array.from({ length: 1001 }, () => "a")],
  ])("answer 400 and nothing is done: %s (4.3.5, CONTRACT 4.5)", async (_what, target) => {
    const { trigger, calls } = recorded();
    const test = await createTestService({ files, triggers: { approve: trigger } });
    const answer = await command(test, [
      { command: "delete", target: "a" },
      { command: "approve", target },
    ]);
    expect([answer.status, answer.json()]).toEqual([400, { errors: [{ message: failed }] }]);
    expect([calls.length, await test.stored("/alice/f/a")]).toEqual([0, "x"]);
  });

  it("may have 1,000 targets in all (CONTRACT 4.5)", async () => {
    const test = await createTestService({ files, triggers: { approve: {} } });
    const halves = [1, 2].map(() => ({ command: "approve", target: Array.from({ length: 500 }, () => "a") }));
    expect((await command(test, halves)).status).toBe(200);
    expect((await command(test, [...halves, { command: "approve", target: "a" }])).status).toBe(400);
  });

  it("know the names of triggers case-sensitively (4.3)", async () => {
    const test = await createTestService({ files, triggers: { approve: {} } });
    expect((await command(test, [{ command: "Approve", target: "a" }])).status).toBe(400);
  });
});

describe("the option triggers", () => {
  const authentication = createAccountsAuthenticator({ accounts: [], logger: createRecordingLogger() });

  function create(triggers: unknown): void {
    const options = { storage: createMemoryStorage(), authentication, groups: { staff: {} }, triggers };
    createFileService(options as unknown as FileServiceOptions);
  }

  it("takes what a trigger may be", () => {
    create({
      approve: { label: "Approve", style: "danger", groups: ["staff", "DEFAULT_GROUP"], run: () => undefined },
    });
    create({ "a-b_2": {}, constructor: { groups: [] }, "2nd": { label: undefined } });
    create({});
  });

  it.each<readonly [what: unknown, option: string]>([
    ["approve", "triggers"],
    [null, "triggers"],
    [[{}], "triggers"],
    [{ delete: {} }, "triggers.delete"],
    [{ "create-folder": {} }, "triggers.create-folder"],
    [{ "create-folder-if-missing": {} }, "triggers.create-folder-if-missing"],
    [{ "upload-file": {} }, "triggers.upload-file"],
    ...["move", "copy", "rename-member", "move-members", "copy-members"].map(
      (name) => [{ [name]: {} }, `triggers.${name}`] as const,
    ),
    [{ "delete-members": {} }, "triggers.delete-members"],
    [{ "download-members": {} }, "triggers.download-members"],
    [{ "": {} }, "triggers."],
    [{ "a b": {} }, "triggers.a b"],
    [{ ["x".repeat(65)]: {} }, "triggers.x"],
    [{ approve: null }, "triggers.approve"],
    [{ approve: () => undefined }, "triggers.approve"],
    [{ approve: { label: "" } }, "triggers.approve.label"],
    [{ approve: { label: 1 } }, "triggers.approve.label"],
    [{ approve: { style: "red" } }, "triggers.approve.style"],
    [{ approve: { groups: "staff" } }, "triggers.approve.groups"],
    [{ approve: { groups: ["others"] } }, "triggers.approve.groups"],
    [{ approve: { groups: ["constructor"] } }, "triggers.approve.groups"],
    [{ approve: { run: "now" } }, "triggers.approve.run"],
  ])("%j is a TypeError that names %s", (triggers, option) => {
    expect(() => create(triggers)).toThrow(TypeError);
    expect(() => create(triggers)).toThrow(`The option ${option}`);
  });
});
