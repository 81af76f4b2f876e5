import { findAcceptedType } from "./accept.ts";

/** The parts of the viewer's internals that the plugins use. Values are of Immutable, components of React. */
interface ViewerSystem {
  readonly specSelectors: { specJson(): { toJS(): Parameters<typeof findAcceptedType>[0] } };
  readonly React: { createElement(type: unknown, props: unknown, ...children: readonly unknown[]): unknown };
}

/** A selector of the viewer. The viewer has already bound its state. */
type Select = (...about: readonly unknown[]) => unknown;

/** A replacement of a {@link Select}. It also gets the state. */
type Wrapped = (state: unknown, ...about: readonly never[]) => unknown;

interface Values {
  get(name: string): unknown;
}

/** The tag whose operations are collapsed at first, because they do not concern files. */
const COLLAPSED_TAG = "Service";
/** Methods that come last in their group. */
const RARE: readonly unknown[] = ["head", "options"];

/** Keeps the order of the document within a group, except that rarely used methods come last. */
export function compareOperations(one: Values, other: Values): number {
  return Number(RARE.includes(one.get("method"))) - Number(RARE.includes(other.get("method")));
}

/**
 * Sends the documented type. Swagger UI 5.34 and 5.35 accept any type until the user selects one, although they show
 * the first one as selected.
 */
export function acceptDocumentedType(): object {
  function responseContentType(select: Select, system: ViewerSystem): Wrapped {
    return (_state, path: string, method: string) => {
      const selected = select(path, method);
      // A media range is not a selection: it stands for responses of other servers and proxies.
      if (typeof selected === "string" && selected !== "" && !selected.includes("*")) return selected;
      return findAcceptedType(system.specSelectors.specJson().toJS(), path, method);
    };
  }
  return { statePlugins: { oas3: { wrapSelectors: { responseContentType } } } };
}

/** Collapses the group that does not concern files until the user, or a link, opens it. */
export function collapseServiceGroup(): object {
  function isShown(select: Select): Wrapped {
    return (_state, thing: readonly string[], isUsual: boolean) => {
      const isCollapsed = thing[0] === "operations-tag" && thing[1] === COLLAPSED_TAG;
      return select(thing, isUsual && !isCollapsed);
    };
  }
  return { statePlugins: { layout: { wrapSelectors: { isShown } } } };
}

/** Leaves the login to the form of the page: the viewer's own would be a second one, with other words. */
export function hideViewerLogin(): object {
  const nothing = () => (): null => null;
  return { wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing } };
}

/** Folds the documented headers: a dozen responses have a dozen headers each. */
export function foldHeaders(): object {
  function headers(original: unknown, { React: { createElement } }: ViewerSystem) {
    return (props: { readonly headers?: { readonly size: number } }) => {
      if (!props.headers?.size) return null;
      const summary = createElement("summary", null, `Headers (${props.headers.size})`);
      return createElement("details", { className: "folded-headers" }, summary, createElement(original, props));
    };
  }
  return { wrapComponents: { headers } };
}

/** Hides the shell command: it would show the session ID as long as the page is open. */
export function hideCommands(): object {
  return { wrapComponents: { curl: () => () => null } };
}

/**
 * Does not send empty form fields unless the user asks for it. By default the viewer would send them as empty strings.
 */
export function leaveOutEmpty(): object {
  function ParameterIncludeEmpty(original: unknown, { React: { createElement } }: ViewerSystem) {
    return ({ isIncludedOptions, ...props }: { readonly isIncludedOptions?: object }) =>
      createElement(original, { ...props, isIncludedOptions: { ...isIncludedOptions, defaultValue: false } });
  }
  return { wrapComponents: { ParameterIncludeEmpty } };
}
