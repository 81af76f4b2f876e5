/** Builds HTML and escapes every interpolated text (docs/decisions/0003-dependencies.md). */
export { html, type SafeHtml } from "@remix-run/html-template";
