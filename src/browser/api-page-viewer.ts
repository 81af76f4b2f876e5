import { findAcceptedType } from "./api-page-accept.ts";
import type { ViewerRequest } from "./api-page-requests.ts";

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

/** What of its inside is used. */
interface ViewerSystem {
  readonly specSelectors: { specJson(): { toJS(): Parameters<typeof findAcceptedType>[0] } };
}

/** Reads something of its state; some leave it to be read from its inside. */
type Select = (state: unknown, path: string, method: string) => unknown;

/** How a viewer is started. */
export interface ViewerOptions {
  /** The URL of the description. */
  readonly description: string;
  /** Sees every request before it is sent. */
  prepare(request: ViewerRequest): ViewerRequest;
  /** The description is shown. */
  onReady(): void;
}

/** Starts Swagger UI in the page, dark where the page is. */
export function startViewer({ description, prepare, onReady }: ViewerOptions): Viewer {
  followColorScheme();
  const { SwaggerUIBundle: start } = globalThis as unknown as { readonly SwaggerUIBundle: SwaggerUi };
  return start({
    dom_id: "#viewer",
    url: description,
    presets: [start.presets.apis],
    plugins: [acceptDescribedType],
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    // Nothing of a login stays in the browser, and nothing is asked of others.
    persistAuthorization: false,
    validatorUrl: null,
    requestInterceptor: prepare,
    onComplete: onReady,
  });
}

/** Swagger UI 5.34 and 5.35 ask for any type until a type is chosen by hand, though they show the first one as chosen. */
function acceptDescribedType(): object {
  function responseContentType(select: Select, system: ViewerSystem): Select {
    return (state, path, method) => {
      const selected = select(state, path, method);
      const chosen = typeof selected === "function" ? selected(system) : selected;
      return chosen || findAcceptedType(system.specSelectors.specJson().toJS(), path, method);
    };
  }
  return { statePlugins: { oas3: { wrapSelectors: { responseContentType } } } };
}

function followColorScheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function follow(): void {
    document.documentElement.classList.toggle("dark-mode", dark.matches);
  }
  dark.addEventListener("change", follow);
  follow();
}
