import { html, type SafeHtml } from "../http/html.ts";

/** The frame of every page of ours. */
export function page(title: string, content: SafeHtml, head?: SafeHtml): SafeHtml {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>${head}
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

/** A page that stands behind a redirect, for clients that show it or do not follow (5.1). */
export function redirectPage(location: string, message: string): SafeHtml {
  const head = html`
<meta http-equiv="refresh" content="0; url=${location}">`;
  return page(message, html`<p>${message} <a href="${location}">Continue</a></p>`, head);
}
