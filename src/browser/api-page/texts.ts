/** The texts of the API page's script, in the language of the page. */
export interface ApiPageTexts {
  /** The user name or password is wrong. */
  readonly wrong: string;
  /** The texts of errors by the second factor, by their codes. */
  readonly secondFactor: Readonly<Record<string, string>>;
  readonly loggedOut: string;
  /** `Your session has ended.` */
  readonly sessionEnded: string;
  /** `The network connection was lost.` */
  readonly networkLost: string;
  /** For an error response without a message: `The server rejected the request (status {status}).` */
  readonly refused: string;
}

/** Reads what the service wrote into the page: its base path, such as `/files`, and the texts. */
export function readPage({ dataset }: HTMLElement): { readonly service: string; readonly texts: ApiPageTexts } {
  return { service: dataset.service ?? "", texts: JSON.parse(dataset.texts ?? "{}") as ApiPageTexts };
}
