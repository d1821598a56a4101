/** The guides as the build writes them, without their pages. Addresses in the pages begin with `{{base}}`. */
export interface DocsSection {
  readonly title: string;
  readonly pages: readonly { readonly name: string; readonly title: string; readonly summary: string }[];
}

export interface DocsPage {
  /** Last part of its address. */
  readonly name: string;
  readonly title: string;
  readonly html: string;
  /** Headings below the title, to the third level. */
  readonly headings: readonly DocsHeading[];
  readonly markdown: string;
}

export interface DocsHeading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** A part of a page that a search finds. */
export interface SearchEntry {
  /** Address below `/docs/`. */
  readonly page: string;
  readonly title: string;
  /** Empty at the start of the page. */
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
  /** Words that find the page, and that it does not have. */
  readonly keywords?: string;
}
