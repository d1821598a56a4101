/** Colours and switches of the player page, and its logo; colours as `rgba(...)`, `logo` as a path, `link` as the owner gave it. */
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
