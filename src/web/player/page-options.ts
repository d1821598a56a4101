/** What the page's address asks of the player. */
export interface PageOptions {
  /** Play as soon as there is something to play. */
  readonly autoplay: boolean;
  /** Begin without sound. */
  readonly muted: boolean;
  readonly hideTitle: boolean;
  readonly hideControls: boolean;
}

/** What an address says, by plain names: lower case, without dashes. A bare name has the value `''`. */
export type AddressOptions = ReadonlyMap<string, string>;

/** The options that every player page has. `playsByItself`: what happens when the address says nothing of it. */
export function pageOptionsOf(values: AddressOptions, autoplayDefault: boolean): PageOptions {
  const isChromeless = isEnabled(values, 'chromeless');
  return {
    autoplay: isEnabled(values, 'autoplay', autoplayDefault),
    muted: isEnabled(values, 'muted'),
    hideTitle: isEnabled(values, 'hidetitle', isChromeless),
    hideControls: isEnabled(values, 'hidecontrols', isChromeless),
  };
}

/**
 * Takes an address apart, with a fragment such as `#autoplay;hide-title;muted:true` and a query such as `?hideControls=true`: items of the
 * fragment are `name`, `name:value` or `name=value`, separated by `;`. The fragment wins, and a bare name means true.
 */
export function parseAddress(hash: string, search: string): AddressOptions {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) values.set(normalizedName(name), value.trim());
  for (const item of hash.replace(/^#/, '').split(';')) {
    const separatorAt = item.search(/[:=]/);
    const name = separatorAt === -1 ? item : item.slice(0, separatorAt);
    values.set(normalizedName(name), separatorAt === -1 ? '' : item.slice(separatorAt + 1).trim());
  }
  return values;
}

/** Whether the address asks for `name`; `otherwise` when it does not speak of it. */
export function isEnabled(values: AddressOptions, name: string, defaultValue = false): boolean {
  const value = values.get(name);
  return value === undefined ? defaultValue : !falseValues.includes(value.toLowerCase());
}

/** Pages that build addresses out of their own variables write `undefined` and `null`. */
const falseValues: readonly string[] = ['false', '0', 'no', 'off', 'undefined', 'null'];

/** `hide-title` and `hideTitle` are the same option. */
function normalizedName(name: string): string {
  return name.trim().replaceAll('-', '').toLowerCase();
}
