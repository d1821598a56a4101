export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}
