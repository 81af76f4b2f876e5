import { createAccess } from "./api-page-access.ts";
import { prepareRequest } from "./api-page-requests.ts";
import { readPage } from "./api-page-texts.ts";
import { startViewer } from "./api-page-viewer.ts";

// The script of the interactive page of the API: starts the viewer, and logs in for it.
const main = document.querySelector<HTMLElement>("main#api");
if (main !== null) {
  const { service, texts } = readPage(main);
  const access = createAccess(main, service, texts);
  const viewer = startViewer({
    description: `${service}/__svc__/openapi.json`,
    prepare: (request) => prepareRequest(request, `${location.origin}${service}`),
    onReady: () => access.offer(viewer),
  });
}
