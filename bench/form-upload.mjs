// How fast a browser's form brings a file (4.6), as a ratio to the same bytes by PUT in the same run, and the most memory that the
// serving process has had meanwhile. Ends with 1 below 0.7.
//
//     npm run build && node bench/form-upload.mjs [MiB] [rounds]
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const mebibytes = Number(process.argv[2] ?? 512);
const rounds = Number(process.argv[3] ?? 5);
/** As incompressible as most large files; text that looks like the boundary would be searched more slowly. */
const chunk = randomBytes(1024 * 1024);
const boundary = "----fileferry";
const head = (text) => `--${boundary}\r\nContent-Disposition: form-data; ${text}\r\n\r\n`;
const begin = `${head('name="action"')}upload-file\r\n${head('name="upload-file"; filename="form.bin"')}`;
const end = `\r\n--${boundary}--\r\n`;

const folder = mkdtempSync(join(tmpdir(), "fileferry-bench-"));
const command = new URL("../dist/cli/main.js", import.meta.url).pathname;
const service = spawn(
  process.execPath,
  [command, "serve", folder, "--account", "demo:demo", "--port", "0", "--quiet"],
  { stdio: ["ignore", "pipe", "ignore"] },
);
const [line] = await new Promise((resolve) =>
  createInterface({ input: service.stdout }).once("line", (text) => resolve([text])),
);
const origin = /^Listening on (\S+)\/$/.exec(line)[1];

try {
  const seconds = { put: [], form: [] };
  await send("put");
  for (let round = 0; round < rounds; round += 1) {
    for (const way of ["put", "form"]) seconds[way].push(await send(way));
  }
  const [put, form] = [median(seconds.put), median(seconds.form)];
  const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))[1]) * 1.024e-3;
  process.stdout.write(`${mebibytes} MiB, median of ${rounds}: PUT ${put.toFixed(2)} s, form ${form.toFixed(2)} s\n`);
  if (put / form < 0.7) process.exitCode = 1;
  process.stdout.write(
    `speed of the form as a ratio to PUT: ${(put / form).toFixed(2)}; peak memory ${peak.toFixed(0)} MB\n`,
  );
} finally {
  service.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** Sends the file once; how long it took. */
async function send(way) {
  const isForm = way === "form";
  const size = mebibytes * chunk.length;
  const headers = isForm
    ? {
        "Content-Type": `multipart/form-data; boundary=${boundary}`,
        "Content-Length": size + begin.length + end.length,
      }
    : { "Content-Length": size };
  const begun = performance.now();
  const status = await new Promise((resolve, reject) => {
    const options = { method: isForm ? "POST" : "PUT", auth: "demo:demo", headers };
    const upload = request(`${origin}/home/${isForm ? "" : "put.bin"}`, options, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    }).on("error", reject);
    let left = mebibytes;
    const sendOn = () => {
      while (left > 0) {
        left -= 1;
        if (!upload.write(chunk)) return void upload.once("drain", sendOn);
      }
      upload.end(isForm ? end : "");
    };
    if (isForm) upload.write(begin);
    sendOn();
  });
  const took = (performance.now() - begun) / 1000;
  const file = statSync(join(folder, isForm ? "form.bin" : "put.bin"));
  if (status !== (isForm ? 303 : 201) || file.size !== size) throw new Error(`${way}: ${status}, ${file.size} bytes`);
  return took;
}

function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}
