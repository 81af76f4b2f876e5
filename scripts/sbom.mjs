// Prints the software bill of materials of what a user installs, CycloneDX in JSON, from the lock file: npm run
// --silent sbom
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { name, version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
/** Development dependencies whose files are in the built package (build/notices.ts). */
const BUNDLED = ["swagger-ui-dist"];

const args = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "library", "--package-lock-only"];
const cwd = new URL("..", import.meta.url);
const stdio = ["ignore", "pipe", "ignore"];
const sbom = JSON.parse(execFileSync("npm", args, { cwd, encoding: "utf8", maxBuffer: 64 * 1024 ** 2, stdio }));

// `--omit dev` would leave out what tools need as well.
const isTool = ({ properties }) => properties?.some((property) => property.name === "cdx:npm:package:development");
sbom.components = sbom.components.filter((one) => !isTool(one) || BUNDLED.includes(one.name));
for (const one of sbom.components) Object.assign(one, { scope: "required", properties: [] });
const kept = new Set(sbom.components.map((one) => one["bom-ref"]));
// npm names the package by the folder that it is in.
const { component } = sbom.metadata;
Object.assign(component, { name, version, purl: `pkg:npm/${name}@${version}` });
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => kept.has(ref) || ref === component["bom-ref"])
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
