import { createAccess } from "./access.ts";
import { prepareRequest } from "./requests.ts";
import { readPage } from "./texts.ts";
import { startViewer } from "./viewer.ts";

// The script of the interactive page of the API: starts the viewer, and logs in for it.
const place = document.querySelector<HTMLElement>("#api");
if (place !== null) {
  const { service, texts } = readPage(place);
  const access = createAccess(place, service, texts);
  const viewer = startViewer({
    description: `${service}/__svc__/openapi.json`,
    prepare: (request) => prepareRequest(request, `${location.origin}${service}`),
    hear: (answer) => access.hear(answer),
    onReady: () => access.offer(viewer),
  });
}
