import { createAccess } from "./access.ts";
import { prepareRequest } from "./requests.ts";
import { readPage } from "./texts.ts";
import { startViewer } from "./viewer.ts";

// The script of the interactive API page. It starts the viewer and logs in for it.
const root = document.querySelector<HTMLElement>("#api");
if (root !== null) {
  const { service, texts } = readPage(root);
  const access = createAccess(root, service, texts);
  const viewer = startViewer({
    documentUrl: `${service}/__svc__/openapi.json`,
    prepare: (request) => prepareRequest(request, `${location.origin}${service}`),
    onResponse: (response) => access.onResponse(response),
    onReady: () => access.offer(viewer),
  });
}
