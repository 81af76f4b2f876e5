import { findAcceptedType } from "./accept.ts";

/** What of the viewer's inside its plugins use: its values are those of Immutable, its components those of React. */
interface ViewerSystem {
  readonly specSelectors: { specJson(): { toJS(): Parameters<typeof findAcceptedType>[0] } };
  readonly React: { createElement(type: unknown, props: unknown, ...children: readonly unknown[]): unknown };
}

/** Reads something of its state, which it knows already. */
type Select = (...about: readonly unknown[]) => unknown;

/** What is put in the place of a {@link Select}: it gets the state, too. */
type Wrapped = (state: unknown, ...about: readonly never[]) => unknown;

interface Values {
  get(name: string): unknown;
}

/** The ways to log in, each below its name. */
interface Schemes {
  filter(keep: (scheme: { first(): Values }) => boolean): Schemes;
}

/** The group that is closed at first: nothing of it is about files. */
const ASIDE = "Service";
/** What comes last in its group. */
const RARE: readonly unknown[] = ["head", "options"];

/** The order of a group's operations is that of the document, but for methods that few will try. */
export function compareOperations(one: Values, other: Values): number {
  return Number(RARE.includes(one.get("method"))) - Number(RARE.includes(other.get("method")));
}

/** Swagger UI 5.34 and 5.35 ask for any type until a type is chosen by hand, though they show the first one as chosen. */
export function acceptDescribedType(): object {
  function responseContentType(select: Select, system: ViewerSystem): Wrapped {
    return (_state, path: string, method: string) => {
      const selected = select(path, method);
      // A range is not what anybody has chosen: it stands for what servers and proxies may answer.
      if (typeof selected === "string" && selected !== "" && !selected.includes("*")) return selected;
      return findAcceptedType(system.specSelectors.specJson().toJS(), path, method);
    };
  }
  return { statePlugins: { oas3: { wrapSelectors: { responseContentType } } } };
}

/** Keeps what is not about files closed until it is opened, by hand or by its link. */
export function closeAside(): object {
  function isShown(select: Select): Wrapped {
    return (_state, thing: readonly string[], isUsual: boolean) => {
      const isAside = thing[0] === "operations-tag" && thing[1] === ASIDE;
      return select(thing, isUsual && !isAside);
    };
  }
  return { statePlugins: { layout: { wrapSelectors: { isShown } } } };
}

/** Leaves out the login by a cookie: no script can set that field. Browsers send the cookie that they have. */
export function hideCookieLogin(): object {
  function definitionsToAuthorize(select: Select): Wrapped {
    return () => {
      const schemes = select() as Schemes | null | undefined;
      return schemes?.filter((scheme) => scheme.first().get("in") !== "cookie");
    };
  }
  return { statePlugins: { auth: { wrapSelectors: { definitionsToAuthorize } } } };
}

/** Folds the header fields of described answers: a dozen answers have a dozen each. */
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

/** Leaves out the line for a shell: the session would stand in it, and in the page for as long as that is open. */
export function hideCommands(): object {
  return { wrapComponents: { curl: () => () => null } };
}

/** Leaves out the fields of a form that are left empty, until one asks for them: the viewer would send them as empty texts. */
export function leaveOutEmpty(): object {
  function ParameterIncludeEmpty(original: unknown, { React: { createElement } }: ViewerSystem) {
    return ({ isIncludedOptions, ...props }: { readonly isIncludedOptions?: object }) =>
      createElement(original, { ...props, isIncludedOptions: { ...isIncludedOptions, defaultValue: false } });
  }
  return { wrapComponents: { ParameterIncludeEmpty } };
}
