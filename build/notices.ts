import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/** What of the build is others' work, and under which name the build tells of it. */
const NAME = "THIRD-PARTY-NOTICES.txt";

const HEAD = `This package holds files of swagger-ui-dist, which the page of the API (fileferry/api-page) shows the description with: swagger-ui-bundle.js and
swagger-ui.css, as texts in a module, and without the comments that name their source maps. They are under the Apache License 2.0,
a copy of which is this package's own LICENSE. Its notice, and those of the works that it is made of:
`;

/** For tsup: writes the notices that others' files ask for beside the build (Apache-2.0, section 4). */
export function createEsbuildNotices(): Plugin {
  return {
    name: "notices",
    setup({ initialOptions, onEnd }) {
      onEnd(async () => {
        const folder = initialOptions.outdir ?? "dist";
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, NAME), await readNotices());
      });
    },
  };
}

async function readNotices(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const { version } = JSON.parse(await readFile(resolve("swagger-ui-dist/package.json"), "utf8")) as {
    version: string;
  };
  const notice = await readFile(resolve("swagger-ui-dist/NOTICE"), "utf8");
  const works = await readFile(resolve("swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt"), "utf8");
  return `${HEAD}\nswagger-ui-dist ${version}\n\n${notice.trim()}\n\n${works.trim()}\n`;
}
