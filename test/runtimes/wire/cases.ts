import type { WireCase } from "./case.ts";
import { browserCases } from "./cases-browser.ts";
import { corsCases } from "./cases-cors.ts";
import { digestCases } from "./cases-digests.ts";
import { fieldCases } from "./cases-fields.ts";
import { fileCases } from "./cases-files.ts";
import { folderCases } from "./cases-folders.ts";
import { linkCases } from "./cases-links.ts";
import { loginCases } from "./cases-login.ts";
import { pathCases } from "./cases-paths.ts";
import { transferCases } from "./cases-transfers.ts";
import { uploadCases } from "./cases-uploads.ts";
import { versionCases } from "./cases-versions.ts";
import { webdavCases } from "./cases-webdav.ts";

/** The one list that every runtime is compared with, over its own socket. */
export const wireCases: readonly WireCase[] = [
  ...fileCases,
  ...folderCases,
  ...loginCases,
  ...browserCases,
  ...corsCases,
  ...pathCases,
  ...transferCases,
  ...uploadCases,
  ...digestCases,
  ...linkCases,
  ...versionCases,
  ...fieldCases,
  ...webdavCases,
];
