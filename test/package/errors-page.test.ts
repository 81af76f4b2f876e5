import { join } from "node:path";
import { expect, it } from "vitest";
import { ERRORS, type ErrorCode, SEVERAL_ERRORS } from "../../src/http/errors.ts";
import type { Failure } from "../../src/http/http-error.ts";
import { FAILURE_TEXTS } from "../../src/openapi/error-responses.ts";
import { toStatus } from "../../src/request/errors.ts";
import { projectFolder } from "../support/built.ts";

const FAILURES = Object.keys(FAILURE_TEXTS) as readonly Failure[];
const CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** The statuses of a failure: one, or those of the three API variants. */
function toStatuses(failure: Failure): string {
  const [json, webdav, html] = [toStatus(failure, "json"), toStatus(failure, "webdav"), toStatus(failure, "html")];
  return json === webdav && json === html ? String(json) : `${json} in JSON, ${webdav} in WebDAV, ${html} on pages`;
}

function toRows(failure: Failure): string {
  const codes = CODES.filter((code) => ERRORS[code][0] === failure);
  return codes.map((code) => `| \`${code}\` | ${ERRORS[code][1]} |`).join("\n");
}

function toSection(failure: Failure): string {
  return `### ${failure}

Status: ${toStatuses(failure)}.

| code | text |
|---|---|
${toRows(failure)}
`;
}

const PAGE = `# Errors

Each error response has the header \`Error-Code\`.
Programs tell failures apart by it, not by the text.
The text is in the body: in English as JSON, in the reader's language on a page.
Texts may change; a code keeps its meaning.

For a folder that is there already, JSON clients get status 422, \`Error-Code: already-exists\`, and this body:

\`\`\`json
{ "errors": [{ "message": "A file or folder with that name already exists." }] }
\`\`\`

- The status of a code can differ between JSON, WebDAV and pages.
- If several commands or members of one request fail for different reasons, the code is \`${SEVERAL_ERRORS}\`.
  The body has the text of each.
- Responses of the HTTP server or of a proxy have no code: malformed HTTP (400), too slow (408), too many headers (431), a proxy without a response (502, 504).

## Errors of your own functions

Some options are functions of yours.
What they throw becomes a response:

| function | what it throws | what the client gets |
|---|---|---|
| \`beforeCommit\` | \`HttpError\`, or it returns a text | 422 with that message; \`upload-refused\`, or the code of the error |
| | \`HttpError\` \`unavailable\` or \`too-large\` | 503 or 413 with that message, code and header fields |
| | anything else | 500 \`internal\` with an ID that is also in the log |
| a trigger | \`HttpError\` | 422 with that message, for this member; \`trigger-refused\`, or the code of the error |
| | anything else | \`internal\` for this member, with an ID that is also in the log |
| an authenticator | \`HttpError\` \`unavailable\` | 503 with that message and code |
| | anything else | 401 \`credentials-wrong\`; the log has the error |
| \`usernameOfCertificate\` | anything | as without a certificate; the log has the error |
| \`onEvent\` | anything | nothing; the log has the error |

Of an \`HttpError\`, the client gets the message and the code; of an authenticator's, and of those two of \`beforeCommit\`, the header fields, too.
An \`HttpError\` has a failure, a message, header fields, and a code of its own if it needs one:

\`\`\`ts
import { HttpError } from "fileferry";

throw new HttpError("unprocessable", "The file has a virus.", {}, { code: "virus-found" });
\`\`\`

Without a code, the failure is the code.
The message is shown as it is, unless [\`languages\`](pages.md#languages) has a text for a code of yours.

## All codes

\`{name}\` stands for a value.

${FAILURES.map(toSection).join("\n")}`;

it("docs/errors.md has all codes; `npx vitest run test/package/errors-page.test.ts --update` writes it", async () => {
  await expect(PAGE).toMatchFileSnapshot(join(projectFolder, "docs/errors.md"));
});
