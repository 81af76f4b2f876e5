import {
  acceptDescribedType,
  closeAside,
  compareOperations,
  foldHeaders,
  hideCommands,
  hideCookieLogin,
  leaveOutEmpty,
} from "./plugins.ts";
import type { ViewerRequest, ViewerResponse } from "./requests.ts";

/** What of a started viewer is used. */
export interface Viewer {
  preauthorizeApiKey(scheme: string, value: string): unknown;
  readonly authActions: { logout(schemes: readonly string[]): unknown };
}

/** Swagger UI, as its script leaves it behind. */
interface SwaggerUi {
  (options: Readonly<Record<string, unknown>>): Viewer;
  readonly presets: { readonly apis: unknown };
}

/** How a viewer is started. */
export interface ViewerOptions {
  /** The URL of the description. */
  readonly description: string;
  /** Sees every request before it is sent. */
  prepare(request: ViewerRequest): ViewerRequest;
  /** Sees every answer. */
  onResponse(response: ViewerResponse): void;
  /** The description is shown. */
  onReady(): void;
}

/** Starts Swagger UI in the page, dark where the page is. */
export function startViewer({ description, prepare, onResponse, onReady }: ViewerOptions): Viewer {
  followColorScheme();
  const { SwaggerUIBundle: start } = globalThis as unknown as { readonly SwaggerUIBundle: SwaggerUi };
  return start({
    dom_id: "#viewer",
    url: description,
    presets: [start.presets.apis],
    plugins: [acceptDescribedType, closeAside, hideCommands, hideCookieLogin, foldHeaders, leaveOutEmpty],
    operationsSorter: compareOperations,
    defaultModelsExpandDepth: 0,
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    // Nothing of a login stays in the browser, and nothing is asked of others.
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
