export interface PlayerTheme {
  readonly colors: Readonly<Record<string, string>>;
  readonly enableApi: boolean;
  readonly enableControls: boolean;
  readonly forceAutoplay: boolean;
  readonly forceLoop: boolean;
  readonly hideTitle: boolean;
  readonly logo: { readonly src: string; readonly link: string | undefined } | undefined;
}

/** @param base begins the addresses: the base path or URL of the server */
export function parseTheme(value: unknown, base: string): PlayerTheme | undefined {
  const theme = asRecord(value);
  if (theme === undefined) return undefined;
  const colors = Object.entries(asRecord(theme.colors) ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const logo = asText(theme.logo);
  return {
    colors: Object.fromEntries(colors),
    enableApi: theme.enableApi !== false,
    enableControls: theme.enableControls !== false,
    forceAutoplay: theme.forceAutoplay === true,
    forceLoop: theme.forceLoop === true,
    hideTitle: theme.hideTitle === true,
    logo: logo === undefined ? undefined : { src: base + logo, link: asWebUrl(theme.link) },
  };
}

/** Returns an http or https URL; others do not become links. */
export function asWebUrl(value: unknown): string | undefined {
  const text = asText(value);
  return text !== undefined && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined;
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
