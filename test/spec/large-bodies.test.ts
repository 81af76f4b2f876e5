import { describe, expect, it } from "vitest";
import type { Authenticator } from "../../src/contracts/authenticator.ts";
import { readFormBody, readJsonBody } from "../../src/http/request-body.ts";
import { bySession, createTestService, type TestService } from "../support/service.ts";

const MIB = 1024 * 1024;
const KIB_16 = 16 * 1024;
/** Whose passwords can be changed, so that bodies for it are read. */
const keeper: Authenticator = {
  name: "keeper",
  authenticate: async () => ({ outcome: "accepted", account: { home_folder_path: "/alice" } }),
  updatePassword: async () => ({ outcome: "wrong-password" }),
};
const approve = { label: "Approve", run: () => undefined };

/** Bodies of at most `size` bytes that hold as much as they can. */
function heavyOf(size: number): readonly [string, string][] {
  const fill = (head: string, unit: string, tail: string) =>
    head + unit.repeat(Math.floor((size - head.length - tail.length) / unit.length)) + tail;
  const keys = Array.from({ length: Math.floor(size / 12) }, (_, index) => `"k${index}":0`).join();
  return [
    ["a list of numbers as a trigger's target", fill('{"commands":[{"command":"approve","target":[', "0,", "0]}]}")],
    ["a list of numbers as commands", fill('{"commands":[', "0,", "0]}")],
    ["a list of objects as commands", fill('{"commands":[', "{},", "{}]}")],
    ["unknown keys", `{${keys}}`],
    ["unknown keys of a command", `{"commands":[{${keys}}]}`],
    ["lists in each other", "[".repeat(size)],
    ["lists in each other that end", "[".repeat(size / 2) + "]".repeat(size / 2)],
    ["objects in each other", fill("", '{"a":', "")],
    ["commas", ",".repeat(size)],
  ];
}

const rows = [
  ...heavyOf(MIB).map(([what, body]) => ["/home/f/", what, body] as const),
  ...heavyOf(KIB_16).flatMap(([what, body]) =>
    ["/home/__svc__/password-update", "/__svc__/login"].map((path) => [path, what, body] as const),
  ),
];

/** Sends a body; the status, and the longest time that nothing else could run meanwhile. */
async function stallOf({ call }: TestService, path: string, type: string, body: string, session: string) {
  let [last, longest] = [performance.now(), 0];
  const note = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(note, 1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const own = path === "/__svc__/login" ? {} : bySession(session);
  const headers = { ...own, "content-type": type };
  const { status } = await call("POST", path, { as: null, variant: "json", headers, body });
  await new Promise((resolve) => setTimeout(resolve, 5));
  clearInterval(timer);
  return { status, longest };
}

describe("a body within its size that would take long to judge (SECURITY 12)", () => {
  it.each(rows)("to %s holds up nobody: %s", async (path, _what, body) => {
    const files = { "/alice/f/": "" };
    const test = await createTestService({ authentication: keeper, files, triggers: { approve }, isDescribed: false });
    const { status, longest } = await stallOf(test, path, "application/json", body, await test.login());
    expect(status).toBe(400);
    // It is some milliseconds; two seconds it was.
    expect(longest).toBeLessThan(500);
  });

  it.each(heavyOf(MIB))("is refused before any schema sees it: %s", async (_what, body) => {
    const request = new Request("http://files.example/", { method: "POST", body });
    await expect(readJsonBody(request, { maxBytes: MIB })).rejects.toMatchObject({ failure: "malformed" });
  });

  it.each(["/home/__svc__/password-update", "/__svc__/login"])(
    "to %s is refused as a form of many fields",
    async (path) => {
      const test = await createTestService({ authentication: keeper });
      const session = await test.login();
      const type = "application/x-www-form-urlencoded";
      const toForm = (fields: number) => `username=a&password=b&return=${"&a".repeat(fields - 3)}`;
      expect((await stallOf(test, path, type, toForm(8000), session)).status).toBe(400);
      const request = new Request("http://files.example/", { method: "POST", body: toForm(101) });
      await expect(readFormBody(request, { maxBytes: MIB })).rejects.toMatchObject({ failure: "malformed" });
      const taken = new Request("http://files.example/", { method: "POST", body: toForm(100) });
      expect([...(await readFormBody(taken, { maxBytes: MIB }))]).toHaveLength(100);
    },
  );

  it("to change a password has 16 KiB, as a form and as JSON: 413 beyond", async () => {
    const test = await createTestService({ authentication: keeper });
    const session = await test.login();
    for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
      const toStatus = (size: number) =>
        stallOf(test, "/home/__svc__/password-update", type, "x".repeat(size), session).then(({ status }) => status);
      expect([await toStatus(KIB_16), await toStatus(KIB_16 + 1)]).toEqual([400, 413]);
    }
  });
});

describe("the largest commands that make sense (CONTRACT 4.5)", () => {
  const toList = <T>(count: number, item: T) => Array.from({ length: count }, () => item);

  it.each<[string, (count: number) => readonly object[]]>([
    ["1,000 with a list of one target each", (count) => toList(count, { command: "approve", target: ["a"] })],
    ["1,000 with one target each", (count) => toList(count, { command: "create-folder-if-missing", target: "b" })],
    ["one with a list of 1,000 targets", (count) => [{ command: "approve", target: toList(count, "a") }]],
    [
      "ten with lists of 1,000 targets in all",
      (count) => toList(10, { command: "approve", target: toList(Math.ceil(count / 10), "a") }),
    ],
  ])("are %s: one more is answered 400, with how many there may be", async (_what, toCommands) => {
    const test = await createTestService({ files: { "/alice/f/a": "x" }, triggers: { approve } });
    const send = (count: number) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ commands: toCommands(count) });
      return test.call("POST", "/home/f/", { variant: "json", headers, body });
    };
    expect((await send(1000)).status).toBe(200);
    const answer = await send(1001);
    expect(answer.status).toBe(400);
    const message = "The body is not a list of commands with at most 1000 targets in total.";
    expect(answer.json()).toEqual({ errors: [{ message }] });
  });
});
