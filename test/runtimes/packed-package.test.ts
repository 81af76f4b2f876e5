import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, projectFolder, startCommand, startServer } from "../support/built.ts";

const run = promisify(execFile);

/** How users' compilers find what an import names, each with a kind of module that goes with it. */
const RESOLUTIONS = {
  node16: { moduleResolution: ts.ModuleResolutionKind.Node16, module: ts.ModuleKind.Node16 },
  nodenext: { moduleResolution: ts.ModuleResolutionKind.NodeNext, module: ts.ModuleKind.NodeNext },
  bundler: { moduleResolution: ts.ModuleResolutionKind.Bundler, module: ts.ModuleKind.ESNext },
};

/** The programs that users copy, for Node and for Workers: they import nothing but the package and Node. */
const PAGES = ["README.md", "docs/quick-start.md"];

/** What the bridges, `fileferry/react` and `fileferry/tracing` import. */
const OPTIONAL_PEERS = ["@opentelemetry/api", "files-sdk", "flydrive", "react"];

async function readPrograms(): Promise<readonly string[]> {
  const pages = await Promise.all(PAGES.map((page) => readFile(join(projectFolder, page), "utf8")));
  return pages.flatMap((page) => [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, program = ""]) => program));
}

/** A package with the version that is installed here. */
async function toInstalled(name: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(projectFolder, "node_modules", name, "package.json"), "utf8"));
  return `${name}@${version}`;
}

/** Whether a file is a program or of the package: those of TypeScript and Node are not checked once more. */
function isOwn({ fileName }: ts.SourceFile): boolean {
  return !fileName.includes("node_modules/") || fileName.includes("node_modules/fileferry/");
}

describe("the packed package, installed in an empty project", () => {
  let folder: string;
  let entries: readonly string[];
  let programs: readonly string[];

  beforeAll(async () => {
    await ensureBuilt();
    folder = await mkdtemp(join(tmpdir(), "fileferry-packed-"));
    const packed = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const [{ filename }] = JSON.parse((await run("npm", packed, { cwd: projectFolder })).stdout);
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const peers = await Promise.all(OPTIONAL_PEERS.map(toInstalled));
    const options = ["--prefer-offline", "--no-audit", "--no-fund"];
    await run("npm", ["install", ...options, `./${filename}`, ...peers], { cwd: folder });
    const { exports } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
    entries = Object.keys(exports)
      .filter((entry) => !entry.endsWith(".json"))
      .map((entry) => entry.replace(".", "fileferry"));
    programs = await readPrograms();
    for (const [index, program] of programs.entries()) await writeFile(join(folder, `program-${index}.ts`), program);
    const imports = entries.map((entry, index) => `import * as entry${index} from "${entry}";\nentry${index};\n`);
    await writeFile(join(folder, "entries.ts"), imports.join(""));
  }, 300_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("is imported by each of its entries' names", async () => {
    expect(entries.length).toBeGreaterThan(10);
    const script = `${entries.map((entry) => `await import("${entry}");`).join("")}process.stdout.write("done");`;
    const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
    expect({ stdout, stderr }).toEqual({ stdout: "done", stderr: "" });
  });

  it("serves without any optional package, and names the one that a configuration needs", async () => {
    const bare = await makeFolder();
    await cp(join(folder, "node_modules"), join(bare, "node_modules"), { recursive: true });
    const { peerDependencies } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
    const { resolve } = createRequire(join(bare, "package.json"));
    for (const name of Object.keys(peerDependencies)) {
      await rm(join(bare, "node_modules", name), { recursive: true, force: true });
      expect(() => resolve(name)).toThrow("Cannot find");
    }
    const command = join(bare, "node_modules/fileferry/dist/cli/main.js");
    const account = ["--account", "alice:secret of alice"];
    const { url } = await startServer(["serve", bare, ...account, "--port", "0"], [], command);
    const headers = { authorization: `Basic ${btoa("alice:secret of alice")}` };
    expect((await fetch(`${url}home/a.txt`, { method: "PUT", headers, body: "content" })).status).toBe(201);
    expect(await (await fetch(`${url}home/a.txt`, { headers })).text()).toBe("content");

    const settings = { permissions: [["allow-list"], ["m/^\\/a[0-9]+$/", "allow-read"]] };
    await writeFile(join(bare, "settings.json"), JSON.stringify(settings));
    const rule = ["explain", "--settings", join(bare, "settings.json"), "read"];
    expect(await startCommand([...rule, "/a12"], "", [], command).ended).toBe(0);
    expect(await startCommand([...rule, "/b12"], "", [], command).ended).toBe(1);

    const serve = async (name: string, members: object): Promise<readonly unknown[]> => {
      const config = join(bare, `${name}.json`);
      const authentication = [{ type: "accounts", accounts: [] }];
      await writeFile(config, JSON.stringify({ storage: { type: "memory" }, authentication, ...members }));
      const by = ["env", "-u", "AWS_ACCESS_KEY_ID", "-u", "AWS_SECRET_ACCESS_KEY"];
      const ended = startCommand(["serve", "--config", config, "--port", "0"], "", by, command);
      return [await ended.ended, ended.stderr()];
    };
    const oidc = { type: "oidc", issuer: "https://id.example", clientId: "files", clientSecret: "x".repeat(32) };
    expect(await serve("oidc", { authentication: [oidc] })).toEqual([
      2,
      expect.stringMatching(/authentication\[0\]: .* need the package openid-client: npm install openid-client@6$/m),
    ]);
    const where = `next to fileferry in ${join(bare, "node_modules")}`;
    expect(await serve("redis", { session: { store: "redis://127.0.0.1:1" } })).toEqual([
      2,
      expect.stringContaining(`session.store: Redis needs one more package: npm install redis@5, ${where}\n`),
    ]);
    const examine = async (name: string, config: string): Promise<readonly unknown[]> => {
      const ended = startCommand([name, "--config", join(bare, `${config}.json`)], "", [], command);
      return [await ended.ended, ended.stdout()];
    };
    for (const name of ["check", "doctor"]) {
      expect(await examine(name, "redis")).toEqual([
        2,
        expect.stringContaining(`error: session.store: Redis needs one more package: npm install redis@5, ${where}\n`),
      ]);
    }
    expect(await examine("check", "oidc")).toEqual([
      2,
      expect.stringContaining(
        `error: authentication[0]: OpenID Connect needs one more package: npm install openid-client@6, ${where}\n`,
      ),
    ]);
    expect(await serve("roles", { storage: { type: "s3", bucket: "files" } })).toEqual([
      2,
      expect.stringMatching(/storage: keys of a role or profile need npm install @aws-sdk\/credential-provider-node$/m),
    ]);
  }, 120_000);

  it.each(Object.entries(RESOLUTIONS))(
    "has types for the programs of README and quick start, and for all entries, by %s",
    (_name, resolution) => {
      expect(programs.length).toBeGreaterThan(1);
      const files = ["entries.ts", ...programs.map((_, index) => `program-${index}.ts`)];
      const program = ts.createProgram(
        files.map((file) => join(folder, file)),
        {
          ...resolution,
          target: ts.ScriptTarget.ES2022,
          lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          skipLibCheck: false,
          types: ["node"],
          typeRoots: [join(projectFolder, "node_modules/@types")],
        },
      );
      const own = program.getSourceFiles().filter((file) => isOwn(file));
      const problems = own.flatMap((file) => [
        ...program.getSyntacticDiagnostics(file),
        ...program.getSemanticDiagnostics(file),
      ]);
      const found = [...program.getOptionsDiagnostics(), ...problems].map(({ file, start = 0, messageText }) => {
        const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
        return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
      });
      expect(found).toEqual([]);
      const sources = program.getSourceFiles().filter(({ fileName }) => fileName.includes("node_modules/fileferry/"));
      expect(sources.length).toBeGreaterThanOrEqual(entries.length);
    },
    120_000,
  );
});
