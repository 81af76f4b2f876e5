/// <reference path="./assets/asset.d.ts" />
import { hash as scriptHash, text as scriptText } from "../browser/folder/main.ts?asset";
import { hash as styleHash, text as styleText } from "./assets/style.css?asset";

/** Names of assets change with what is in them, so that browsers may keep them for good. */
export const STYLE_NAME = `style-${styleHash}.css`;
export const SCRIPT_NAME = `main-${scriptHash}.js`;

const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

/** A file that pages load. */
export interface Asset {
  readonly type: string;
  readonly text: string;
}

/** The asset of a name; `brandStyle` is the one that the options make. */
export function findAsset(
  name: string,
  brandStyle?: { readonly name: string; readonly text: string },
): Asset | undefined {
  if (name === STYLE_NAME) return { type: CSS, text: styleText };
  if (name === SCRIPT_NAME) return { type: JAVASCRIPT, text: scriptText };
  return name === brandStyle?.name ? { type: CSS, text: brandStyle.text } : undefined;
}

/** Where an asset is. */
export function toAssetPath(basePath: string, name: string): string {
  return `${basePath}/__svc__/assets/${name}`;
}
