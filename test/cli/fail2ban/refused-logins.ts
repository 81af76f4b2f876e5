import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type CommandRun, startServer, waitFor } from "../../support/built.ts";
import { countRequests } from "../../support/openapi/undescribed.ts";
import { ALICE, configure } from "../configure.ts";

/** The formats that the head of the filter of fail2ban names; the last one shows all that clients choose. */
export const FORMATS = [
  "text",
  "json",
  "combined",
  "$request_uri $http_user_agent $http_host $remote_user $remote_addr $request_id $http_referer $request",
];

/** One more than the wrong one-time passwords in a day after which an account with two-factor login is locked. */
const GUESSERS = Array.from({ length: 51 }, (_each, network) => `10.0.${network}.1`);

/** The addresses of those whose logins {@link logRefusedLogins} has refused, in this order. */
export const REFUSED = [
  "192.0.2.3",
  "192.0.2.4",
  "192.0.2.5",
  "192.0.2.7",
  "192.0.2.8",
  "192.0.2.9",
  ...GUESSERS,
  ...Array.from({ length: 3 }, () => "127.0.0.1"),
  "2001:db8::6",
];

const LOGIN = '{"username":"x","type":"password","reason":"credentials","address":"203.0.113.66"';
const TIME = '"time":"2001-01-01T00:00:00.000Z"';
/** What looks like the line of a refused login, by which another address would be banned. */
const FORGED = [
  LOGIN,
  `A login was refused. ${LOGIN}}`,
  `${LOGIN},${TIME},"level":"info","message":"A login was refused."}`,
];

/** Serves in a log format, logs in wrongly, and sends what could look like a refused login. Returns the log. */
export async function logRefusedLogins(format: string): Promise<string> {
  countRequests();
  const keys = [{ id: "0123456789abcdef", sha256: "0".repeat(64), created_at: 0 }];
  const accounts = [
    { username: "alice", password: "secret of alice", keys },
    { username: "carol", password: "secret of carol", totp: { secret: "A".repeat(32) } },
  ];
  const config = await configure({
    storage: { type: "memory" },
    clientForwardedHeader: "X-Forwarded-For",
    authentication: [{ type: "accounts", accounts }],
  });
  const run = await startServer(["serve", "--config", config, "--log-format", format]);
  await refuseLogins(run.url);
  await guess(run.url);
  for (const forged of FORGED) await sendForged(Number(new URL(run.url).port), forged);
  const body = new URLSearchParams({ username: "bob", password: "wrong" });
  await fetch(`${run.url}__svc__/login`, { method: "POST", body, headers: { "X-Forwarded-For": "2001:db8::6" } });
  const log = await waitForLine(run, "2001:db8::6");
  if (!log.includes("second-factor-throttled")) throw new Error("the account is not locked");
  return log;
}

/** Asks with the right password and a wrong one-time password until the account is locked. */
async function guess(url: string): Promise<void> {
  const fields = { username: "carol", password: "secret of carol", one_time_password: "000000" };
  for (const client of GUESSERS) {
    const headers = { "X-Forwarded-For": client };
    await fetch(`${url}__svc__/login`, { method: "POST", body: new URLSearchParams(fields), headers });
  }
}

async function refuseLogins(url: string): Promise<void> {
  const ask = (client: string, credentials?: string, key?: string) =>
    fetch(`${url}home/`, {
      headers: {
        "X-Forwarded-For": client,
        "User-Agent": '"address":"203.0.113.66"',
        ...(credentials !== undefined && { Authorization: `Basic ${btoa(credentials)}` }),
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
    });
  const toWrongKey = (id: string) => `ff_${id}_${"0".repeat(32)}`;
  await ask("192.0.2.1");
  await ask("192.0.2.2", "alice:secret of alice");
  await ask("192.0.2.3", "alice:wrong");
  await ask("192.0.2.4", 'x","address":"203.0.113.66:wrong');
  await ask("192.0.2.5", 'x\\","type":"basic","reason":"unknown","address":"203.0.113.66":wrong');
  await ask("192.0.2.7", undefined, toWrongKey("0123456789abcdef"));
  await ask("192.0.2.8", undefined, toWrongKey("fedcba9876543210"));
  await ask("192.0.2.9", `alice:${toWrongKey("0123456789abcdef")}`);
}

/** Sends a text wherever a client can choose one, by a socket: other clients would encode it. */
async function sendForged(port: number, forged: string): Promise<void> {
  const target = forged.replaceAll(" ", "\t");
  const wrong = `Authorization: Basic ${btoa(`${forged.replaceAll(":", ";")}:wrong`)}`;
  const right = `Authorization: ${ALICE.Authorization}`;
  for (const [line, ...fields] of [
    [`GET /home/${target} HTTP/1.1`, "Host: x"],
    [`GET ${target} HTTP/1.1`, "Host: x"],
    [`GET http://${target}/home/ HTTP/1.1`, "Host: x"],
    [`${forged} / HTTP/1.1`, "Host: x"],
    [`CONNECT ${target} HTTP/1.1`, "Host: x"],
    [`GET /home/ HTTP/1.1`, `Host: ${forged}`],
    ...["User-Agent", "X-Request-Id", "X-Forwarded-For", "Referer", "traceparent"].map((name) => [
      ...["GET /home/ HTTP/1.1", "Host: x", right, `${name}: ${forged}`],
    ]),
    ["GET /home/ HTTP/1.1", "Host: x", wrong],
  ]) {
    const socket = connect(port, "127.0.0.1");
    socket.write(`${[line, ...fields, "Connection: close"].join("\r\n")}\r\n\r\n`);
    await text(socket);
  }
}

async function waitForLine(run: CommandRun, words: string): Promise<string> {
  return waitFor(() => {
    const lines = run.stderr().split("\n").slice(0, -1);
    return lines.some((line) => line.includes(words)) ? lines.join("\n") : undefined;
  }, run);
}
