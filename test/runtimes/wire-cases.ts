import type { WireCase } from "./wire-case.ts";
import { browserCases } from "./wire-cases-browser.ts";
import { fieldCases } from "./wire-cases-fields.ts";
import { fileCases } from "./wire-cases-files.ts";
import { folderCases } from "./wire-cases-folders.ts";
import { loginCases } from "./wire-cases-login.ts";
import { pathCases } from "./wire-cases-paths.ts";
import { transferCases } from "./wire-cases-transfers.ts";

/** The one list that every runtime is held against, over its own socket. */
export const wireCases: readonly WireCase[] = [
  ...fileCases,
  ...folderCases,
  ...loginCases,
  ...browserCases,
  ...pathCases,
  ...transferCases,
  ...fieldCases,
];
