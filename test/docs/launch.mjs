// The commands that pages name, where they cannot be what the system has: `node launch.mjs
// <fileferry|node|npm|npx|sftp> [argument...]`, called by the programs that environment.ts puts first into the PATH.
// Whatever says that it listens goes on behind, as in a terminal of its own.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, openSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const { PLAY_FOLDER = "", PORTS = "{}", PATH = "", TYPESCRIPT_NODE = "" } = process.env;
const clone = join(PLAY_FOLDER, "clone");
const pids = join(PLAY_FOLDER, "pids");
const ports = JSON.parse(PORTS);
/** The PATH without the programs that call this. */
const systemPath = PATH.split(":")
  .filter((folder) => folder !== join(PLAY_FOLDER, "bin"))
  .join(":");

const [, , name = "", ...args] = process.argv;
process.exitCode = await { fileferry, node, npm, npx, sftp }[name](args);

/** The one that is installed here, else the one of the repository. */
function fileferry(given) {
  const installed = join(process.cwd(), "node_modules/.bin/fileferry");
  const script = existsSync(installed) ? installed : join(clone, "dist/cli/main.js");
  return play(process.execPath, [script, ...withPort(given, 8080)]);
}

/** A script by its relative path. */
function node([script, ...given]) {
  if (script.endsWith("dist/cli/main.js")) return play(process.execPath, [script, ...withPort(given, 8080)]);
  if (script.endsWith("sftp-server.ts"))
    return play(TYPESCRIPT_NODE, [script, ...withPort(["serve", ...given], 2222).slice(1)]);
  return play(script.endsWith(".ts") ? TYPESCRIPT_NODE : process.execPath, [script, ...given]);
}

/** What `npm ci` and `npm run build` make is there already; so is what the repository installs. */
function npm(given) {
  const [command, ...rest] = given;
  const prefix = given.includes("--prefix") ? given[given.indexOf("--prefix") + 1] : undefined;
  const isClone = prefix === undefined && realpathSync(".") === realpathSync(clone);
  if (command === "ci") return existsSync(join(prefix ?? ".", "node_modules")) ? 0 : fail("node_modules is not there");
  if (isClone && command === "run" && rest.includes("build")) return existsSync("dist") ? 0 : fail("dist is not there");
  if (isClone && command === "install") return rest.every(isInstalled) ? 0 : fail(`not installed: ${rest.join(" ")}`);
  return runSystem("npm", given);
}

function isInstalled(specifier) {
  return existsSync(join("node_modules", specifier.replace(/(?<=.)@.*$/, "")));
}

function npx(given) {
  const start = given.findIndex((word) => !word.startsWith("-"));
  const [program = "", ...rest] = given.slice(start);
  if (program === "fileferry") return fileferry(rest);
  const folders = [".", join(clone, "examples/client")].map((folder) => join(folder, "node_modules/.bin", program));
  const found = folders.find((path) => existsSync(path));
  return found === undefined ? fail(`${program} is not installed`) : runSystem(found, rest);
}

/** Asks no questions: it accepts the server's new key, and sends the one password of all these pages. */
function sftp(given) {
  const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"];
  return runSystem("sftp", [...options.flatMap((option) => ["-o", option]), ...given], {
    SSH_ASKPASS: join(PLAY_FOLDER, "bin/askpass"),
    SSH_ASKPASS_REQUIRE: "force",
  });
}

function runSystem(program, given, more = {}) {
  const found = program.includes("/")
    ? program
    : systemPath
        .split(":")
        .map((folder) => join(folder, program))
        .find((path) => existsSync(path));
  if (found === undefined) return fail(`${program} is not installed`);
  const { status } = spawnSync(found, given, { stdio: "inherit", env: { ...process.env, ...more } });
  return status ?? 1;
}

function fail(reason) {
  process.stderr.write(`${reason}\n`);
  return 1;
}

/** Adds the port that the page means, if the server was not given one. */
function withPort(given, port) {
  const isServer = given[0] === "serve" && !given.includes("--port");
  return isServer ? [...given, "--port", String(ports[port])] : given;
}

/** Runs a program until it ends, or listens. One on the port of another is what the reader starts in place of that. */
async function play(program, given) {
  let run = await start(program, given);
  const isTaken = () => run.status !== undefined && /EADDRINUSE|already in use/.test(run.stderr);
  if (isTaken()) endServers();
  // Until the system has taken the port from the one that was ended.
  for (const deadline = Date.now() + 15_000; isTaken() && Date.now() < deadline; ) run = await start(program, given);
  process.stdout.write(run.stdout);
  process.stderr.write(run.stderr);
  return run.status ?? 0;
}

async function start(program, given) {
  const log = join(PLAY_FOLDER, `log-${process.pid}-${Date.now()}`);
  const read = () => ({ stdout: readFileSync(`${log}.out`, "utf8"), stderr: readFileSync(`${log}.err`, "utf8") });
  const stdio = ["inherit", openSync(`${log}.out`, "w"), openSync(`${log}.err`, "w")];
  const child = spawn(program, given, { stdio, detached: true });
  let status;
  const ended = once(child, "exit").then(([code]) => {
    status = code ?? 1;
  });
  for (const deadline = Date.now() + 30_000; status === undefined; ) {
    if (/^(?:Listening on |https?:\/\/)\S+$/m.test(read().stdout)) break;
    if (Date.now() > deadline) process.kill(child.pid, "SIGKILL");
    await Promise.race([ended, delay(20)]);
  }
  if (status === undefined) {
    appendFileSync(pids, `${child.pid}\n`);
    const [url] = /https?:\/\/\S+$/m.exec(read().stdout) ?? [];
    if (url !== undefined) await askForDescription(url);
  }
  child.unref();
  return { status, ...read() };
}

/** What a service is asked for is written down: its exchanges are compared with its description when it may be gone. */
async function askForDescription(url) {
  const { get } = await import(url.startsWith("https:") ? "node:https" : "node:http");
  await new Promise((resolve) => {
    const asking = get(new URL("__svc__/openapi.json", url), {
      headers: { accept: "application/json" },
      rejectUnauthorized: false,
    });
    asking.on("response", (response) => response.resume().on("close", resolve));
    asking.on("error", resolve).setTimeout(5000, resolve);
  });
}

/** Ends all that listens. */
function endServers() {
  if (!existsSync(pids)) return;
  for (const pid of readFileSync(pids, "utf8").trim().split("\n")) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
  }
  rmSync(pids);
}
