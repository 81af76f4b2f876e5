import {
  acceptDocumentedType,
  collapseServiceGroup,
  compareOperations,
  foldHeaders,
  hideCommands,
  hideViewerLogin,
  leaveOutEmpty,
} from "./plugins.ts";
import type { ViewerRequest, ViewerResponse } from "./requests.ts";

/** The parts of a started viewer that the page uses. */
export interface Viewer {
  preauthorizeApiKey(scheme: string, value: string): unknown;
  readonly authActions: { logout(schemes: readonly string[]): unknown };
}

/** The global that the script of Swagger UI defines. */
interface SwaggerUi {
  (options: Readonly<Record<string, unknown>>): Viewer;
  readonly presets: { readonly apis: unknown };
}

/** How a viewer is started. */
export interface ViewerOptions {
  /** The URL of the OpenAPI document. */
  readonly documentUrl: string;
  /** Called with every request before it is sent. */
  prepare(request: ViewerRequest): ViewerRequest;
  /** Called with every response. */
  onResponse(response: ViewerResponse): void;
  /** Called when the document is shown. */
  onReady(): void;
}

/** Starts Swagger UI in the page. It follows the color scheme of the page. */
export function startViewer({ documentUrl, prepare, onResponse, onReady }: ViewerOptions): Viewer {
  followColorScheme();
  const { SwaggerUIBundle: start } = globalThis as unknown as { readonly SwaggerUIBundle: SwaggerUi };
  return start({
    dom_id: "#viewer",
    url: documentUrl,
    presets: [start.presets.apis],
    plugins: [acceptDocumentedType, collapseServiceGroup, hideCommands, hideViewerLogin, foldHeaders, leaveOutEmpty],
    operationsSorter: compareOperations,
    defaultModelsExpandDepth: 0,
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    // The browser stores no credentials, and no other server is contacted.
    persistAuthorization: false,
    validatorUrl: null,
    requestInterceptor: prepare,
    responseInterceptor(response: ViewerResponse) {
      onResponse(response);
      return response;
    },
    onComplete: onReady,
  });
}

function followColorScheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function follow(): void {
    document.documentElement.classList.toggle("dark-mode", dark.matches);
  }
  dark.addEventListener("change", follow);
  follow();
}
