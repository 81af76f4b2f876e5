/// <reference path="./assets/asset.d.ts" />
import { hash as notesHash, text as notesText } from "swagger-ui-dist/NOTICE?asset";
import { hash as viewerStyleHash, text as viewerStyleText } from "swagger-ui-dist/swagger-ui.css?asset";
import { hash as viewerHash, text as viewerText } from "swagger-ui-dist/swagger-ui-bundle.js?asset";
import { hash as worksHash, text as worksText } from "swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt?asset";
import { hash as startHash, text as startText } from "../browser/api-page/main.ts?asset";
import type { ApiPageFile } from "../contracts/pages/api-page.ts";
import { hash as styleHash, text as styleText } from "./assets/api-page.css?asset";

const NOTICES = `${notesText}\nhttps://www.apache.org/licenses/LICENSE-2.0\n\n${worksText}`;

/** Swagger UI, our script that starts it, and the notices that its license requires (Apache-2.0, section 4). */
export const VIEWER_FILES: readonly ApiPageFile[] = [
  toFile("style", `swagger-ui-${viewerStyleHash}.css`, viewerStyleText),
  toFile("style", `api-page-${styleHash}.css`, styleText),
  toFile("script", `swagger-ui-${viewerHash}.js`, viewerText),
  toFile("module", `api-page-${startHash}.js`, startText),
  toFile("notices", `swagger-ui-notices-${notesHash}-${worksHash}.txt`, NOTICES),
];

function toFile(type: ApiPageFile["type"], name: string, text: string): ApiPageFile {
  return { type, name, bytes: new TextEncoder().encode(text) };
}
