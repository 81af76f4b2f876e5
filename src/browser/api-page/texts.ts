/** What the page of the API says by its script, in the language of the page. */
export interface ApiPageTexts {
  /** Name or password is wrong. */
  readonly wrong: string;
  readonly loggedOut: string;
  /** `Your session has ended.` */
  readonly sessionEnded: string;
  /** `The network is lost.` */
  readonly networkLost: string;
  /** A refusal without a reason: `The server refused it (status {status}).` */
  readonly refused: string;
}

/** What the page hands over: the path of the service, such as `/files`, and the texts. */
export function readPage({ dataset }: HTMLElement): { readonly service: string; readonly texts: ApiPageTexts } {
  return { service: dataset.service ?? "", texts: JSON.parse(dataset.texts ?? "{}") as ApiPageTexts };
}
