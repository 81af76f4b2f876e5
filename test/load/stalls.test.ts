import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { BROWSER_HEADERS, type FormEntry, formOf } from "../support/forms.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { type CallOptions, createTestService, type TestService } from "../support/service.ts";
import { fillStorage } from "../support/storage.ts";
import { reportFigure } from "../support/trust.ts";

/** What others may wait for one request, in milliseconds (SECURITY, "Figures to reach"). */
const BOUND = 100;
/** How often an input is tried: a stall by garbage collection, or by code that is compiled, is not due to the input. */
const TRIES = 3;
const KIB = 1024;

/**
 * The longest that anything else had to wait while a request was served, in milliseconds of this process's own time:
 * that of others does not count.
 */
async function stallOf(serve: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let last = process.cpuUsage();
  const beat = (): void => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.cpuUsage();
    if (!isOver) setImmediate(beat);
  };
  setImmediate(beat);
  await new Promise((resolve) => setImmediate(resolve));
  await serve();
  isOver = true;
  beat();
  return longest;
}

/** The account whose rules have as many steps as rules may have, and the path of a folder in its home. */
const RULED = "bob";
/** 14,000 letters in no order. */
const IRREGULAR = Array.from({ length: 14_000 }, (_, index) => "ab"[Math.floor(index ** 1.7) % 2]).join("");
const DEEP = `${"abbab".repeat(24)}/${"babba".repeat(23)}`;

interface Input {
  readonly what: string;
  readonly method: string;
  readonly target: string;
  readonly options: CallOptions;
}

function get(what: string, headers: Readonly<Record<string, string>>, target = "/home/a"): Input {
  return { what, method: "GET", target, options: { headers } };
}

function post(what: string, type: string, body: string | Uint8Array, target = "/home/f/"): Input {
  return { what, method: "POST", target, options: { variant: "json", headers: { "content-type": type }, body } };
}

function form(what: string, entries: readonly FormEntry[]): Input {
  return { what, method: "POST", target: "/home/f/", options: { headers: BROWSER_HEADERS, body: formOf(...entries) } };
}

/** Repeats a text up to a size. */
function fill(text: string, bytes: number): string {
  return text.repeat(Math.floor(bytes / text.length));
}

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
const letters = [..."abcdefghijklmnop"];
const members = Array.from({ length: 990 }, (_, index) => ["selected-members", `member ${index}`] as const);

const INPUTS: readonly Input[] = [
  get("Accept of 15 KiB", { accept: fill("a/b;q=0.5,", 15 * KIB) }),
  get("Accept of quoted texts that never end", { accept: fill(';"\\', 15 * KIB) }),
  get("Accept-Language of 15 KiB", { "accept-language": fill("de-a,", 15 * KIB) }),
  get("Cookie of 15 KiB", { cookie: fill("a=b;", 15 * KIB) }),
  get("Range of 15 KiB", { range: `bytes=${fill("0-1,", 15 * KIB)}5-6` }),
  get("If-None-Match of 15 KiB", { "if-none-match": fill('W/"a",', 15 * KIB) }),
  get("Authorization of 15 KiB", { authorization: `Basic ${fill("YTpi", 15 * KIB)}` }),
  get("Forwarded of 15 KiB", { forwarded: fill('for="a";', 15 * KIB) }),
  get("a path of 7,000 segments", {}, `/home/${fill("a/", 14 * KIB)}`),
  get("a path of one segment of percent signs", {}, `/home/${fill("%61", 14 * KIB)}`),
  get("a query of 15 KiB", {}, `/home/?${fill("a=b&", 15 * KIB)}`),
  {
    what: "metadata of 15 KiB",
    method: "PUT",
    target: "/home/m",
    options: { body: "x", headers: { "x-labels": fill('"a=b",', 15 * KIB) } },
  },
  post("JSON of 1 MiB of brackets", JSON_TYPE, fill("[", KIB * KIB)),
  post(
    "JSON of half a million numbers",
    JSON_TYPE,
    `{"commands":[{"command":"delete","target":[${fill("0,", 1020 * KIB)}0]}]}`,
  ),
  post(
    "JSON of unknown keys",
    JSON_TYPE,
    `{${Array.from({ length: 80_000 }, (_, index) => `"k${index}":1`).join(",")}}`,
  ),
  post(
    "1,000 commands",
    JSON_TYPE,
    JSON.stringify({
      commands: Array.from({ length: 1000 }, (_, index) => ({ command: "create-folder", target: `n${index}` })),
    }),
  ),
  post(
    "a login of 16 KiB",
    JSON_TYPE,
    JSON.stringify({ username: fill("a", 8 * KIB), password: fill("b", 7 * KIB) }),
    "/__svc__/login",
  ),
  post("a form of 8,000 fields", FORM_TYPE, fill("a&", 16 * KIB), "/__svc__/login"),
  form("a form of 990 members to delete", [["action", "delete"], ...members]),
  form("a form of 990 files", [
    ["action", "upload-file"],
    ...members.map(([, name]) => ["upload-file", name, "x"] as const),
  ]),
  form("a form of 990 members to pack", [["action", "download"], ...members]),
  { what: "a listing of 10,000 members", method: "GET", target: "/home/big/", options: { variant: "json" } },
  {
    what: "an archive of 10,000 members",
    method: "GET",
    target: "/home/big/",
    options: { headers: { accept: "application/zip" } },
  },
  {
    what: "a page of a folder, with the most steps of rules",
    method: "GET",
    target: `/home/${DEEP}/`,
    options: { as: RULED, variant: "html" },
  },
  {
    what: "a path of 14,000 letters, with the most steps of rules",
    method: "GET",
    target: `/home/${IRREGULAR}`,
    options: { as: RULED },
  },
  {
    what: "the removal of 16 members, with the most steps of rules",
    method: "DELETE",
    target: `/home/${DEEP}/`,
    options: { as: RULED },
  },
  {
    what: "16 commands, with the most steps of rules",
    method: "POST",
    target: `/home/${DEEP}/`,
    options: {
      as: RULED,
      variant: "json",
      headers: { "content-type": JSON_TYPE },
      body: JSON.stringify({ commands: letters.map((target) => ({ command: "delete", target })) }),
    },
  },
  {
    what: "an archive of 16 members, with the most steps of rules",
    method: "GET",
    target: `/home/${DEEP}/`,
    options: { as: RULED, headers: { accept: "application/zip" } },
  },
];

/** Nearly 2,000 steps. Of two rules each step costs as much as any; automata of the others would have many states. */
const MOST_STEPS = ["m/(?:\\pL?){248}[^\\pL/]$/i", "m/[ab]*a[ab]{480}[^a-z/]$/"].flatMap((expression) => [
  [expression, "deny-full-control"],
  [expression, "deny-full-control"],
]);

const ruledFiles = Object.fromEntries(letters.map((name) => [`/bob/${DEEP}/${name}`, "x"]));

/** Rules as an account may have them, over paths that match late. */
const permissions = [
  ["allow-full-control"],
  ["m/(a|b|ab)*(c|d)*x$/", "deny-full-control"],
  ["*/*a*b*c*d*e*f*/*", "deny-full-control"],
];

let test: TestService;

beforeAll(async () => {
  const storage = createMemoryStorage();
  const big = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`/alice/big/member ${index}.txt`, "x"]));
  await fillStorage(storage, { "/alice/a": "x".repeat(10_000), ...big });
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", permissions };
  const ruledAccount = {
    username: RULED,
    password: "hunter2",
    home_folder_path: "/bob",
    permissions: [["allow-full-control"], ...MOST_STEPS],
  };
  test = await createTestService({
    storage,
    metadataFields: "X-Labels",
    isWatched: false,
    isDescribed: false,
    authentication: createAccountsAuthenticator({ accounts: [account, ruledAccount], logger: createRecordingLogger() }),
  });
});

/** The stalls for the report, which shows the worst. */
const found: { readonly what: string; readonly stall: number }[] = [];

afterAll(() => {
  const [worst] = found.sort((one, other) => other.stall - one.stall);
  if (worst === undefined) return;
  const what = `at most, of ${found.length} inputs: ${worst.what}`;
  reportFigure({
    row: "Longest delay of another request",
    what,
    value: worst.stall,
    unit: "ms",
    bound: `at most ${BOUND}`,
  });
});

describe("no request makes others wait for longer than 100 ms", () => {
  it.each(INPUTS)("$what", async ({ what, method, target, options }) => {
    const stalls: number[] = [];
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      await fillStorage(test.storage, { "/alice/f/": "", ...ruledFiles });
      const asked = test.request(method, target, options);
      stalls.push(await stallOf(async () => (await test.service.fetch(asked)).arrayBuffer()));
      await test.storage.remove("/alice/f");
    }
    const stall = Math.min(...stalls);
    found.push({ what, stall });
    expect(stall).toBeLessThan(BOUND);
  });
});
