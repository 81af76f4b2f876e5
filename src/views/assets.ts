/// <reference path="./assets/asset.d.ts" />
import { hash as scriptHash, text as scriptText } from "../browser/folder/main.ts?asset";
import { hash as passwordsHash, text as passwordsText } from "../browser/passwords/main.ts?asset";
import { hash as viewerHash, text as viewerText } from "../browser/viewer/main.ts?asset";
import { hash as styleHash, text as styleText } from "./assets/style.css?asset";

/** The name of an asset contains a hash of its content, so that browsers may cache it forever. */
export const STYLE_NAME = `style-${styleHash}.css`;
export const SCRIPT_NAME = `main-${scriptHash}.js`;
/** The script of the pages that ask for passwords. */
export const PASSWORDS_NAME = `passwords-${passwordsHash}.js`;
/** The part of the script that shows files. Pages load it when a file is opened first. */
export const VIEWER_NAME = `viewer-${viewerHash}.js`;

const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

/** A style sheet or script that pages load. */
export interface Asset {
  readonly type: string;
  readonly text: string;
}

/** Finds an asset by its name. `brandStyle` is the style sheet made from the branding options. */
export function findAsset(
  name: string,
  brandStyle?: { readonly name: string; readonly text: string },
): Asset | undefined {
  if (name === STYLE_NAME) return { type: CSS, text: styleText };
  if (name === SCRIPT_NAME) return { type: JAVASCRIPT, text: scriptText };
  if (name === PASSWORDS_NAME) return { type: JAVASCRIPT, text: passwordsText };
  if (name === VIEWER_NAME) return { type: JAVASCRIPT, text: viewerText };
  return name === brandStyle?.name ? { type: CSS, text: brandStyle.text } : undefined;
}

/** The URL path of an asset. */
export function toAssetPath(basePath: string, name: string): string {
  return `${basePath}/__svc__/assets/${name}`;
}
