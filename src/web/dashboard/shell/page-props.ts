/** What a page is given: the parts of its address. */
export interface PageProps {
  /** By the `:names` of its path. */
  readonly params: Readonly<Record<string, string>>;
}
