export interface PageOptions {
  readonly autoplay: boolean;
  readonly muted: boolean;
  readonly hideTitle: boolean;
  readonly hideControls: boolean;
}

/** Options by lower-case name without dashes. A bare name has the value `''`. */
export type AddressOptions = ReadonlyMap<string, string>;

export function pageOptionsOf(values: AddressOptions, autoplayDefault: boolean): PageOptions {
  const isChromeless = isEnabled(values, 'chromeless');
  return {
    autoplay: isEnabled(values, 'autoplay', autoplayDefault),
    muted: isEnabled(values, 'muted'),
    hideTitle: isEnabled(values, 'hidetitle', isChromeless),
    hideControls: isEnabled(values, 'hidecontrols', isChromeless),
  };
}

/** Parses `#autoplay;hide-title;muted:true` and a query. The fragment wins, and a bare name means true. */
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

export function isEnabled(values: AddressOptions, name: string, defaultValue = false): boolean {
  const value = values.get(name);
  return value === undefined ? defaultValue : !falseValues.includes(value.toLowerCase());
}

/** Pages that build URLs from variables write `undefined` and `null`. */
const falseValues: readonly string[] = ['false', '0', 'no', 'off', 'undefined', 'null'];

function normalizedName(name: string): string {
  return name.trim().replaceAll('-', '').toLowerCase();
}
