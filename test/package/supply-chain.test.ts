import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import satisfies from "spdx-satisfies";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const project = fileURLToPath(new URL("../../", import.meta.url));
const LOCKED = [
  "",
  "bench",
  "examples/applications",
  "examples/client",
  "examples/frameworks",
  "examples/react",
  "site",
  "test/azurite",
  "test/mutation",
  "test/runtimes",
  "test/s3rver",
];

/** Of what users get, and of what is in the package. */
const PERMISSIVE = [
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "Unlicense",
  "CC0-1.0",
  "PSF-2.0",
];
/** Licences of tools, which are not distributed. */
const OF_TOOLS = [
  ...PERMISSIVE,
  "BlueOak-1.0.0",
  "LGPL-3.0-or-later",
  "MPL-2.0",
  "Python-2.0",
  "CC-BY-3.0",
  "CC-BY-4.0",
  "Zlib",
];
/** MIT by a file in them, LICENSE or README; their package.json has no SPDX expression. */
const WITHOUT_EXPRESSION = ["buildcheck", "busboy", "combine-errors", "cpu-features", "ssh2", "streamsearch"];

interface Locked {
  readonly name: string;
  readonly version: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly cpu?: readonly string[];
}

async function read(path: string): Promise<string> {
  return readFile(join(project, path), "utf8");
}

async function readLock(folder: string): Promise<readonly Locked[]> {
  const { packages } = JSON.parse(await read(join(folder, "package-lock.json"))) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  return Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(([path, locked]) => ({ ...locked, name: path.slice(path.lastIndexOf("node_modules/") + 13) }));
}

/** What a user who installs the package gets. */
async function readInstalled(): Promise<readonly Locked[]> {
  return (await readLock("")).filter(({ dev, devOptional }) => dev !== true && devOptional !== true);
}

/** The packages whose files are taken into the built one: `"name/file?asset"`. */
async function readBundled(): Promise<readonly string[]> {
  const names = (await readdir(join(project, "src"), { recursive: true })).filter((name) => name.endsWith(".ts"));
  const texts = await Promise.all(names.map((name) => read(join("src", name))));
  const found = texts.flatMap((text) => [...text.matchAll(/"([^"./][^"/]*)\/[^"]*\?asset"/g)].map(([, name]) => name));
  return [...new Set(found as string[])];
}

function isAllowed(license: string | undefined, allowed: readonly string[]): boolean {
  return license !== undefined && satisfies(license, [...allowed]);
}

/** Version 7 of TypeScript has a name of its own here (docs/decisions/0073-two-compilers.md). */
const SECOND_COMPILER = "typescript-native";

describe("dependencies", () => {
  it.each(LOCKED)("of %j are locked by a hash each, in exact versions", async (folder) => {
    const loose = (await readLock(folder)).filter(({ version, integrity, optional, cpu }) => {
      // Executables of tools for other machines than those that the lock file was made on.
      const isElsewhere = optional === true && cpu !== undefined && integrity === undefined;
      return !/^\d+\.\d+\.\d+/.test(version) || (!/^sha512-/.test(integrity ?? "") && !isElsewhere);
    });
    expect(loose).toEqual([]);
  });

  it.each(LOCKED)("of %j come from the registry by name, from no address of their own", async (folder) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(await read(join(folder, "package.json")));
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      expect(version).toMatch(name === SECOND_COMPILER ? /^npm:typescript@[\d.]+$/ : /^\^?\d+\.\d+\.\d+[\w.-]*$/);
    }
    const addresses = (await readLock(folder)).map(({ resolved }) => resolved).filter(Boolean);
    expect(addresses.filter((address) => !address?.startsWith("https://registry.npmjs.org/"))).toEqual([]);
  });

  it("that are tools have exact versions, so that one commit is always checked by the same", async () => {
    const { devDependencies } = JSON.parse(await read("package.json")) as { devDependencies: Record<string, string> };
    expect(Object.values(devDependencies).filter((version) => !/^(?:npm:typescript@)?\d/.test(version))).toEqual([]);
  });

  it("of users run nothing when they are installed", async () => {
    expect((await readInstalled()).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
  });

  it("of users, and what is in the package, have permissive licences", async () => {
    const bundled = await readBundled();
    expect(bundled).toContain("swagger-ui-dist");
    const given = [...(await readInstalled()), ...(await readLock("")).filter(({ name }) => bundled.includes(name))];
    expect(given.length).toBeGreaterThan(20);
    expect(given.filter(({ license }) => !isAllowed(license, PERMISSIVE))).toEqual([]);
  });

  it("that are tools have licences by which they may be used", async () => {
    const wrong = (await readLock("")).filter(({ name, license }) => {
      return WITHOUT_EXPRESSION.includes(name) ? license !== undefined : !isAllowed(license, OF_TOOLS);
    });
    expect(wrong).toEqual([]);
  });
});

describe("the bill of materials", () => {
  it("names all that users get, and what is in the package, with versions, hashes and licences", async () => {
    const { stdout } = await promisify(execFile)("node", ["scripts/sbom.mjs"], {
      cwd: project,
      maxBuffer: 64 * 1024 ** 2,
    });
    const sbom = JSON.parse(stdout);
    const { name, version } = JSON.parse(await read("package.json"));
    expect(sbom).toMatchObject({
      bomFormat: "CycloneDX",
      metadata: { component: { name, version, purl: `pkg:npm/${name}@${version}` } },
    });

    const bundled = await readBundled();
    const locked = await readLock("");
    const given = locked.filter((one) => bundled.includes(one.name) || (one.dev !== true && one.devOptional !== true));
    const toId = (one: { name: string; version: string }) => `${one.name}@${one.version}`;
    const components: Record<string, unknown>[] = sbom.components;
    const toName = ({ group, name }: Record<string, unknown>) =>
      (group === undefined ? name : `${group}/${name}`) as string;
    expect(components.map((one) => toId({ name: toName(one), version: one.version as string })).sort()).toEqual(
      given.map(toId).sort(),
    );
    for (const component of components) {
      expect(component).toMatchObject({
        purl: expect.stringMatching(/^pkg:npm\//),
        licenses: [expect.anything()],
        hashes: [expect.anything()],
      });
    }
    const refs = sbom.dependencies.map(({ ref }: { ref: string }) => ref).sort();
    expect(refs).toEqual([sbom.metadata.component, ...components].map((one) => one["bom-ref"]).sort());
  });
});

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string;
        readonly permissions?: Readonly<Record<string, string>>;
        readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
      }
    >
  >;
}

describe("the workflows", () => {
  const readWorkflow = async (name: string) => parse(await read(`.github/workflows/${name}`)) as Workflow;

  it.each(["ci.yml", "publish.yml"])(
    "of %s name each action by the hash of a commit, and may read only",
    async (name) => {
      const { permissions, jobs } = await readWorkflow(name);
      expect(permissions).toEqual({ contents: "read" });
      const actions = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
      expect(actions.length).toBeGreaterThan(0);
      for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40}$/);
      // Text of events in a script would be run.
      for (const { run = "" } of Object.values(jobs).flatMap(({ steps }) => steps)) expect(run).not.toContain("${{");
    },
  );

  it("publish what the tests let through, with its provenance and without a token", async () => {
    const { jobs } = await readWorkflow("publish.yml");
    const { publish, test } = jobs;
    expect(test?.steps.map(({ run }) => run)).toContainEqual(expect.stringContaining("bash .ci/run"));
    expect(publish).toMatchObject({ needs: "test", permissions: { contents: "read", "id-token": "write" } });
    const runs = publish?.steps.flatMap(({ run }) => run ?? []) ?? [];
    for (const part of ["npm ci --ignore-scripts", "npm audit", "npm run --silent sbom", "--provenance"]) {
      expect(runs.join("\n")).toContain(part);
    }
    expect(await read(".github/workflows/publish.yml")).not.toMatch(/secrets\.|NPM_TOKEN|NODE_AUTH_TOKEN/);
  });
});
