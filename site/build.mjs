/*
 * npm run docs: the documentation as a static site with a search of its own, in site/dist. It is made of README.md,
 * docs/, and the sources' comments; a warning of typedoc or VitePress, a link to nothing, and whatever a page would
 * load from elsewhere are failures.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../", import.meta.url));
const site = fileURLToPath(new URL("./", import.meta.url));

// The package's own dependencies have types that the reference names.
install(project, ["ci", "--ignore-scripts"]);
install(site, ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);

const { writeReference } = await import("./api.mjs");
const { writePages } = await import("./pages.mjs");
const { findFaults } = await import("./check.mjs");

await rm(`${site}pages`, { recursive: true, force: true });
await writePages(project, `${site}pages`);
await writeReference(project, `${site}pages/api`);
build();
const faults = await findFaults(`${site}dist`, process.env.DOCS_BASE ?? "/");
if (faults.length > 0) fail(faults.join("\n"));
process.stdout.write("The site is in site/dist.\n");

/** Installs what a folder's lock says, where nothing is installed. */
function install(folder, args) {
  if (existsSync(`${folder}node_modules`)) return;
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) fail(`npm ${args.join(" ")} failed in ${folder}`);
}

/** Builds the site of the pages. VitePress fails for dead links by itself, but goes on after a warning. */
function build() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`${site}node_modules/vitepress/bin/vitepress.js`, "build"],
    {
      cwd: site,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", CI: "true" },
    },
  );
  const printed = `${stdout}${stderr}`;
  if (status !== 0 || /warn|\(!\)|not loaded/i.test(printed)) fail(printed);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
