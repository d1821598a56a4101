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
export type AddressValues = ReadonlyMap<string, string>;

/** The options that every player page has. `playsByItself`: what happens when the address says nothing of it. */
export function pageOptionsOf(values: AddressValues, playsByItself: boolean): PageOptions {
  const isChromeless = isAsked(values, 'chromeless');
  return {
    autoplay: isAsked(values, 'autoplay', playsByItself),
    muted: isAsked(values, 'muted'),
    hideTitle: isAsked(values, 'hidetitle', isChromeless),
    hideControls: isAsked(values, 'hidecontrols', isChromeless),
  };
}

/**
 * Takes an address apart, with a fragment such as `#autoplay;hide-title;muted:true` and a query such as `?hideControls=true`: items of the
 * fragment are `name`, `name:value` or `name=value`, separated by `;`. The fragment wins, and a bare name means true.
 */
export function readAddress(hash: string, search: string): AddressValues {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) values.set(plainName(name), value.trim());
  for (const item of hash.replace(/^#/, '').split(';')) {
    const separatorAt = item.search(/[:=]/);
    const name = separatorAt === -1 ? item : item.slice(0, separatorAt);
    values.set(plainName(name), separatorAt === -1 ? '' : item.slice(separatorAt + 1).trim());
  }
  return values;
}

/** Whether the address asks for `name`; `otherwise` when it does not speak of it. */
export function isAsked(values: AddressValues, name: string, otherwise = false): boolean {
  const value = values.get(name);
  return value === undefined ? otherwise : !noes.includes(value.toLowerCase());
}

/** Pages that build addresses out of their own variables write `undefined` and `null`. */
const noes: readonly string[] = ['false', '0', 'no', 'off', 'undefined', 'null'];

/** `hide-title` and `hideTitle` are the same option. */
function plainName(name: string): string {
  return name.trim().replaceAll('-', '').toLowerCase();
}
