/** Builds HTML with every interpolated text escaped (docs/decisions/0003-dependencies.md). */
export { html, type SafeHtml } from "@remix-run/html-template";
