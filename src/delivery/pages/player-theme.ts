/** Colors are `rgba(...)`, `logo` is a path. */
export interface PlayerTheme {
  readonly colors: Readonly<Record<string, string>>;
  readonly enableApi: boolean;
  readonly enableControls: boolean;
  readonly forceAutoplay: boolean;
  readonly forceLoop: boolean;
  readonly hideTitle: boolean;
  readonly logo?: string;
  readonly link?: string;
}
