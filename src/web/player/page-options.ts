/** What the page's address asks of the player. */
export interface PageOptions {
  /** Play as soon as there is something to play. */
  readonly autoplay: boolean;
  /** Begin without sound. */
  readonly muted: boolean;
  readonly hideTitle: boolean;
  readonly hideControls: boolean;
}

/**
 * Reads options from a fragment such as `#autoplay;hide-title;muted:true` and a query such as `?hideControls=true`.
 * A bare name means true; the fragment wins. A live page plays by itself unless told `autoplay:false`.
 */
export function readPageOptions(hash: string, search: string): PageOptions {
  const values = new Map<string, boolean>();
  for (const [name, value] of new URLSearchParams(search)) values.set(plainName(name), isYes(value));
  for (const item of hash.replace(/^#/, '').split(';')) {
    const colonAt = item.indexOf(':');
    const name = colonAt === -1 ? item : item.slice(0, colonAt);
    values.set(plainName(name), isYes(colonAt === -1 ? '' : item.slice(colonAt + 1)));
  }
  const isChromeless = values.get('chromeless') ?? false;
  return {
    autoplay: values.get('autoplay') ?? true,
    muted: values.get('muted') ?? false,
    hideTitle: values.get('hidetitle') ?? isChromeless,
    hideControls: values.get('hidecontrols') ?? isChromeless,
  };
}

/** `hide-title` and `hideTitle` are the same option. */
function plainName(name: string): string {
  return name.trim().replaceAll('-', '').toLowerCase();
}

function isYes(value: string): boolean {
  return !['false', '0', 'no', 'off'].includes(value.trim().toLowerCase());
}
