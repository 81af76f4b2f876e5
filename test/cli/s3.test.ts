import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openS3Storage } from "../../src/cli/config/storage/s3.ts";
import { builtCommand, ensureBuilt } from "../support/built.ts";
import { startCommand } from "../support/command.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "ACCESSKEY", AWS_SECRET_ACCESS_KEY: "SECRETKEY" };
/** An environment without keys, in which the metadata service of the test's machine is not asked. */
const NO_KEYS = {
  AWS_ACCESS_KEY_ID: "",
  AWS_SECRET_ACCESS_KEY: "",
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_SHARED_CREDENTIALS_FILE: "/nonexistent",
  AWS_CONFIG_FILE: "/nonexistent",
};
const authorization = `Basic ${btoa("demo:demo")}`;
let folder: string;

beforeAll(async () => {
  await ensureBuilt();
  folder = await mkdtemp(join(tmpdir(), "fileferry-cli-s3-"));
}, 180_000);

afterAll(() => rm(folder, { recursive: true }));

describe("fileferry serve with a bucket that does not work", () => {
  it("ends with 2 if the environment has only one of the keys", async () => {
    const file = await writeConfig({ bucket: "files" });
    const { status, stderr } = await runServe(file, { ...NO_KEYS, AWS_ACCESS_KEY_ID: "ACCESSKEY" });
    expect([status, stderr]).toEqual([2, `${file}: storage: the environment does not have AWS_SECRET_ACCESS_KEY\n`]);
  });

  it("ends with 1 if there are no keys anywhere", async () => {
    const file = await writeConfig({ bucket: "files" });
    const { status, stderr } = await runServe(file, NO_KEYS);
    expect([status, stderr]).toEqual([1, "error: No credentials were found for the store: CredentialsProviderError\n"]);
  });

  it("names the profile in which it finds no keys", async () => {
    const fail = async (): Promise<never> => {
      throw Object.assign(new Error("secret"), { name: "CredentialsProviderError" });
    };
    const entry = { type: "s3", bucket: "files", endpoint: "http://127.0.0.1:9" } as const;
    const opened = await openS3Storage(entry, { AWS_PROFILE: "nope" }, () => fail);
    if (!("check" in opened)) throw new Error("The storage was not opened.");
    await expect(opened.check()).rejects.toThrow(
      /^No credentials were found for the profile nope of AWS_PROFILE: CredentialsProviderError$/,
    );
  });

  it("says which package finds the keys of roles if it is not installed", async () => {
    expect(await openS3Storage({ type: "s3", bucket: "files" }, {}, () => undefined)).toEqual([
      "the environment does not have AWS_ACCESS_KEY_ID",
      "the environment does not have AWS_SECRET_ACCESS_KEY",
      "keys of a role or profile need npm install @aws-sdk/credential-provider-node",
    ]);
  });

  it("ends with 1 if no server responds, and prints no key", async () => {
    const file = await writeConfig({ bucket: "files", endpoint: `http://127.0.0.1:${await findFreePort()}` });
    const { status, stderr } = await runServe(file, KEYS);
    expect([status, stderr]).toEqual([1, "error: The bucket files does not respond: GET bucket: ECONNREFUSED\n"]);
  }, 60_000);

  it("takes endpoint and region from the environment, and names the variable that is wrong", async () => {
    const entry = { type: "s3", bucket: "files" } as const;
    expect(
      await openS3Storage(entry, { ...KEYS, AWS_ENDPOINT_URL: "http://127.0.0.1:9", AWS_REGION: "eu-1" }),
    ).toHaveProperty("check");
    expect(await openS3Storage(entry, { ...KEYS, AWS_ENDPOINT_URL: "nowhere" })).toEqual([
      "AWS_ENDPOINT_URL_S3 of the environment must be an http or https URL without a user or a query",
    ]);
  });
});

describe.skipIf(s3Missing !== undefined)(`fileferry serve with a bucket${s3Missing ? ` (${s3Missing})` : ""}`, () => {
  let bucket: S3Bucket;
  let environment: Record<string, string>;

  beforeAll(async () => {
    bucket = await createBucket();
    environment = { AWS_ACCESS_KEY_ID: bucket.accessKeyId, AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey };
  }, 120_000);

  it("keeps, lists and removes files in it", async () => {
    const file = await writeConfig({ bucket: bucket.bucket, endpoint: bucket.endpoint, prefix: "home" });
    const { origin, stop } = await startCommand(["serve", "--config", file, "--port", "0", "--quiet"], environment);
    const ask = (method: string, path: string, body?: string) =>
      fetch(`${origin}/home/${path}`, {
        method,
        headers: { authorization, accept: "application/json" },
        ...(body !== undefined && { body }),
      });
    expect((await ask("PUT", "a%20b+c.txt", "text")).status).toBe(201);
    expect(await bucket.keys()).toEqual(["home/a b+c.txt"]);
    expect(await (await ask("GET", "a%20b+c.txt")).text()).toBe("text");
    expect(await (await ask("GET", "")).text()).toContain('"a b+c.txt"');
    expect((await ask("DELETE", "a%20b+c.txt")).status).toBe(204);
    expect((await ask("GET", "a%20b+c.txt")).status).toBe(404);
    await stop();
  }, 60_000);

  it.each(["instance", "container", "profile"] as const)(
    "signs with the keys of the %s",
    async (kind) => {
      const { accessKeyId, secretAccessKey } = bucket;
      const Expiration = new Date(Date.now() + 3_600_000).toISOString();
      const keys = { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Expiration };
      const metadata = await startMetadataService(keys);
      const profile = join(folder, "credentials");
      const lines = ["[files]", `aws_access_key_id=${accessKeyId}`, `aws_secret_access_key=${secretAccessKey}`];
      await writeFile(profile, lines.join("\n"));
      const own = {
        instance: { AWS_EC2_METADATA_DISABLED: "", AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.origin },
        container: { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.origin}/container` },
        profile: { AWS_SHARED_CREDENTIALS_FILE: profile, AWS_PROFILE: "files" },
      };
      const file = await writeConfig({ bucket: bucket.bucket, endpoint: bucket.endpoint });
      const args = ["serve", "--config", file, "--port", "0", "--quiet"];
      const { origin, stop } = await startCommand(args, { ...NO_KEYS, ...own[kind] });
      const url = `${origin}/home/${kind}.txt`;
      expect((await fetch(url, { method: "PUT", headers: { authorization }, body: "text" })).status).toBe(201);
      expect(await bucket.keys()).toContain(`${kind}.txt`);
      await stop();
      expect(metadata.asked).toEqual(kind === "profile" ? [] : expect.arrayContaining([METADATA_PATHS[kind]]));
      await metadata.stop();
    },
    60_000,
  );

  it("ends with 1 if the bucket does not exist", async () => {
    const file = await writeConfig({ bucket: "no-such-bucket", endpoint: bucket.endpoint });
    const { status, stderr } = await runServe(file, environment);
    expect([status, stderr]).toEqual([
      1,
      "error: The bucket no-such-bucket does not respond: GET bucket listing: the store responded 404 NoSuchBucket\n",
    ]);
  });
});

async function writeConfig(storage: Readonly<Record<string, string>>): Promise<string> {
  const file = join(folder, "fileferry.json");
  const accounts = [{ username: "demo", password: "demo", home_folder_path: "/" }];
  const config = { storage: { type: "s3", ...storage }, authentication: [{ type: "accounts", accounts }] };
  await writeFile(file, JSON.stringify(config));
  return file;
}

const METADATA_PATHS = {
  instance: "/latest/meta-data/iam/security-credentials/files-role",
  container: "/container",
};

/** Plays the metadata services of AWS for instances (version 2, which wants a token) and for containers. */
async function startMetadataService(keys: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const respond: RequestListener = ({ method, url = "", headers }, response) => {
    asked.push(url);
    const isToken = method === "PUT" && url === "/latest/api/token";
    const hasToken = headers["x-aws-ec2-metadata-token"] === "a-token";
    if (isToken) response.end("a-token");
    else if (url === METADATA_PATHS.container) response.end(JSON.stringify({ ...keys, Token: "" }));
    else if (!hasToken) response.writeHead(401).end();
    else if (url === METADATA_PATHS.instance) response.end(JSON.stringify({ Code: "Success", Token: "", ...keys }));
    else response.end("files-role");
  };
  const server = createHttpServer(respond).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await once(server.close(), "close");
  };
  return { origin: `http://127.0.0.1:${port}`, asked, stop };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}

/** Runs the command to its end; `stderr` is without warnings. */
function runServe(
  file: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ status: number; stderr: string }> {
  return new Promise((resolve) => {
    const args = [builtCommand, "serve", "--config", file, "--port", "0"];
    const child = execFile(process.execPath, args, { env: { ...process.env, ...environment } }, (_, __, stderr) =>
      resolve({ status: child.exitCode ?? -1, stderr: stderr.replace(/^warning: .*\n/gm, "") }),
    );
  });
}
