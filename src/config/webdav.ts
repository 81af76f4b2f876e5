import { checkOption } from "../contracts/option-error.ts";
import { isObject } from "./checks.ts";

/** The option `webdav`. */
export interface WebdavOptions {
  /** Whether a PROPFIND of `Depth: infinity` is answered, which lists everything below a folder. Default: false. */
  readonly infiniteDepth?: boolean;
}

/** The option `webdav` with its defaults. */
export type WebdavConfig = Required<WebdavOptions>;

/** Checks the option. @throws OptionError for an option such as `webdav.infiniteDepth`. */
export function toWebdav(webdav: WebdavOptions | undefined): WebdavConfig | undefined {
  if (webdav === undefined) return undefined;
  checkOption(isObject(webdav), "webdav", "an object");
  const { infiniteDepth = false } = webdav;
  checkOption(typeof infiniteDepth === "boolean", "webdav.infiniteDepth", "true or false");
  return { infiniteDepth };
}
