import { type PlaylistLine, readDecimal, readInteger, unexpected } from './playlist-text.ts';

/** Unquoted values have no quotes, commas or white space. */
const ATTRIBUTE = /([A-Z0-9-]+)=(?:"([^"\p{Cc}]*)"|([^",\s]+))(,|$)/uy;

/** draft-pantos-hls-rfc8216bis-22, 4.2. */
export class AttributeList {
  readonly #line: PlaylistLine;
  readonly #quoted = new Map<string, string>();
  readonly #bare = new Map<string, string>();

  constructor(line: PlaylistLine) {
    this.#line = line;
    let at = 0;
    let separator = ',';
    while (separator === ',') {
      ATTRIBUTE.lastIndex = at;
      const match = ATTRIBUTE.exec(line.value);
      if (match === null) throw unexpected(line, `NAME=VALUE in ${line.tag}`, line.value.slice(at));
      const [text, name = '', inQuotes, bare = '', end = ''] = match;
      if (this.#quoted.has(name) || this.#bare.has(name))
        throw unexpected(line, `${name} once in ${line.tag}`);
      if (inQuotes === undefined) this.#bare.set(name, bare);
      else this.#quoted.set(name, inQuotes);
      at += text.length;
      separator = end;
    }
  }

  /** A required quoted-string that is not empty. */
  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw unexpected(this.#line, `${name}="..." in ${this.#line.tag}`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.#quoted.get(name);
    if (value === '' || this.#bare.has(name)) {
      throw unexpected(this.#line, `${name}="..." in ${this.#line.tag}`, this.#bare.get(name) ?? value);
    }
    return value;
  }

  /** Undefined also for `NONE` without quotes. */
  optionalTextOrNone(name: string): string | undefined {
    return this.#bare.get(name) === 'NONE' ? undefined : this.optionalText(name);
  }

  /** Reads attributes whose only value is YES. */
  yes(name: string): boolean {
    return this.optionalChoice(name, ['YES']) !== undefined;
  }

  yesOrNo(name: string): boolean | undefined {
    const value = this.optionalChoice(name, ['YES', 'NO']);
    return value === undefined ? undefined : value === 'YES';
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const value = this.optionalChoice(name, choices);
    if (value === undefined)
      throw unexpected(this.#line, `${name}=${choices.join('|')} in ${this.#line.tag}`);
    return value;
  }

  optionalChoice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.bare(name);
    const found = choices.find(choice => choice === value);
    if (value !== undefined && found === undefined) {
      throw unexpected(this.#line, `${name}=${choices.join('|')} in ${this.#line.tag}`, value);
    }
    return found;
  }

  decimal(name: string): number {
    return readDecimal(this.#line, this.#required(name), this.#where(name));
  }

  optionalDecimal(name: string): number | undefined {
    return this.bare(name) === undefined ? undefined : this.decimal(name);
  }

  integer(name: string, min = 0): number {
    return readInteger(this.#line, this.#required(name), this.#where(name), min);
  }

  optionalInteger(name: string, min = 0): number | undefined {
    return this.bare(name) === undefined ? undefined : this.integer(name, min);
  }

  bare(name: string): string | undefined {
    if (this.#quoted.has(name)) {
      throw unexpected(this.#line, `${this.#where(name)} without quotes`, this.#quoted.get(name));
    }
    return this.#bare.get(name);
  }

  #required(name: string): string {
    const value = this.bare(name);
    if (value === undefined) throw unexpected(this.#line, this.#where(name));
    return value;
  }

  #where(name: string): string {
    return `${name} in ${this.#line.tag}`;
  }
}

/** Skips undefined values. The others must be quoted where needed. */
export function formatAttributes(attributes: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}
