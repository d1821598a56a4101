import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { readEmail } from '../../shared/email-address.ts';
import { basePathOf, basePathProblem } from '../../shared/network/base-path.ts';
import { describeUrlProblem } from '../../shared/network/postgres-url.ts';
import { describeS3UrlProblem } from '../../shared/network/s3-url.ts';
import { Secret } from '../../shared/secret.ts';

export interface SettingKind<Value> {
  readonly name: string;
  /** Values to choose from; undefined for free input. */
  readonly words?: readonly string[];
  /** Several words, separated by commas. */
  readonly isList?: true;
  readonly isSecret?: true;
  /** Parses any JSON value of the file, or a string of the environment or a flag. */
  parse(raw: unknown): Value;
}

export const text: SettingKind<string> = {
  name: 'text',
  parse(raw) {
    if (typeof raw !== 'string' || raw.trim() === '') throw new Error('expected a value that is not empty');
    return raw;
  },
};

export const secret: SettingKind<Secret> = {
  name: 'secret',
  isSecret: true,
  parse: raw => new Secret(text.parse(raw)),
};

/** Passphrase of SRT. */
export const passphrase: SettingKind<Secret> = {
  name: 'secret',
  isSecret: true,
  parse(raw) {
    const passphraseText = text.parse(raw);
    const bytes = Buffer.byteLength(passphraseText);
    if (bytes < 10 || bytes > 79) throw new Error('expected 10 to 79 characters');
    return new Secret(passphraseText);
  },
};

/** Secret, because it contains a password or the secret of a key. */
const secretUrl = (describeProblem: (url: string) => string | undefined): SettingKind<Secret> => ({
  name: 'secret address',
  isSecret: true,
  parse(raw) {
    const url = text.parse(raw).trim();
    const problem = describeProblem(url);
    if (problem !== undefined) throw new Error(problem);
    return new Secret(url);
  },
});

export const postgresUrl = secretUrl(describeUrlProblem);
export const s3Url = secretUrl(describeS3UrlProblem);

export const boolean: SettingKind<boolean> = {
  name: 'boolean',
  words: ['true', 'false'],
  parse(raw) {
    if (raw === true || raw === 'true' || raw === '1') return true;
    if (raw === false || raw === 'false' || raw === '0') return false;
    throw new Error('expected true or false');
  },
};

export function integer(min: number, max: number): SettingKind<number> {
  return {
    name: `integer, ${min} to ${max}`,
    parse(raw) {
      const value = typeof raw === 'string' && /^-?\d+$/.test(raw) ? Number(raw) : raw;
      if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
        throw new Error(`expected a whole number from ${min} to ${max}`);
      }
      return value;
    },
  };
}

export const port: SettingKind<number> = { ...integer(0, 65_535), name: 'port, 0 picks a free one' };

const durationUnitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** 0 needs no unit. Returns undefined for other input. */
function withUnit(raw: unknown, form: RegExp, units: Readonly<Record<string, number>>): number | undefined {
  const text = typeof raw === 'string' ? raw.trim() : raw;
  if (text === 0 || text === '0') return 0;
  const [, amount, unit = ''] = (typeof text === 'string' ? form.exec(text) : null) ?? [];
  return amount === undefined ? undefined : Number(amount) * units[unit]!;
}

/** Writes an amount in the largest unit of which it is a whole number. */
function inUnit(amount: number, units: Readonly<Record<string, number>>): string {
  const [unit, factor] = Object.entries(units).findLast(([, each]) => amount % each === 0) ?? ['', 1];
  return amount === 0 ? '0' : `${amount / factor}${unit}`;
}

/** Duration such as `200ms`, `2.5s`, `5m`; in whole milliseconds, as databases store them. */
export function duration(minMs: number, maxMs: number): SettingKind<number> {
  const range = `${inUnit(minMs, durationUnitsMs)} to ${inUnit(maxMs, durationUnitsMs)}`;
  return {
    name: `duration, ${range}`,
    parse(raw) {
      const valueMs = withUnit(raw, /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/, durationUnitsMs);
      if (valueMs === undefined) {
        throw new Error('expected a duration with its unit, such as 200ms, 2s or 5m');
      }
      if (valueMs < minMs || valueMs > maxMs) throw new Error(`expected ${range}`);
      return Math.round(valueMs);
    },
  };
}

const legacyTrueDays = 90;

/** Days such as `7d`. `false` and 0 are none, and `true` is 90 days: the setting was a boolean once. */
export function days(maxDays: number): SettingKind<number> {
  return {
    name: `days, 0d to ${maxDays}d, or \`false\``,
    parse(raw) {
      if (raw === true || raw === 'true' || raw === '1') return legacyTrueDays;
      if (raw === false || raw === 'false') return 0;
      const value = (withUnit(raw, /^(\d+)\s*(d)$/, durationUnitsMs) ?? Number.NaN) / durationUnitsMs.d!;
      if (value >= 0 && value <= maxDays) return value;
      throw new Error(`expected whole days such as 7d, at most ${maxDays}d, or false`);
    },
  };
}

const sizeUnitsBytes: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Writes a size as settings take it, such as `64MiB`. */
export function sizeText(bytes: number): string {
  return inUnit(bytes, sizeUnitsBytes);
}

/** Size such as `64MiB`; in bytes. */
export function size(minBytes: number, maxBytes: number): SettingKind<number> {
  const range = `${sizeText(minBytes)} to ${sizeText(maxBytes)}`;
  return {
    name: `size, ${range}`,
    parse(raw) {
      const valueBytes = withUnit(raw, /^(\d+)\s*(B|KiB|MiB|GiB)$/, sizeUnitsBytes);
      if (valueBytes === undefined) throw new Error('expected a size with its unit, such as 512KiB or 64MiB');
      if (valueBytes < minBytes || valueBytes > maxBytes) throw new Error(`expected ${range}`);
      return valueBytes;
    },
  };
}

export function choice<const Words extends readonly string[]>(words: Words): SettingKind<Words[number]> {
  return {
    name: words.join(', '),
    words,
    parse(raw) {
      const found = words.find(word => word === raw);
      if (found === undefined) throw new Error(`expected one of ${words.join(', ')}`);
      return found;
    },
  };
}

/** List of some of the words, separated by commas. */
export function choices<const Words extends readonly string[]>(
  words: Words,
): SettingKind<readonly Words[number][]> {
  return {
    name: `list of ${words.join(', ')}`,
    words,
    isList: true,
    parse(raw) {
      const list = typeof raw === 'string' ? raw.split(',').map(entry => entry.trim()) : [];
      const isValid = list.length > 0 && list.every(entry => words.includes(entry));
      if (!isValid) throw new Error(`expected some of ${words.join(', ')}, separated by commas`);
      return words.filter(word => list.includes(word));
    },
  };
}

/** IP addresses and networks such as `10.0.0.0/8, 192.0.2.7`. */
export const networks: SettingKind<readonly string[]> = {
  name: 'addresses',
  parse(raw) {
    const list = typeof raw === 'string' ? raw.split(',').map(entry => entry.trim()) : [];
    if (list.length === 0 || !list.every(isNetwork)) {
      throw new Error('expected addresses or networks such as 10.0.0.0/8, separated by commas');
    }
    return list;
  },
};

function isNetwork(text: string): boolean {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const family = isIP(match?.[1] ?? '');
  return family !== 0 && Number(match?.[2] ?? 0) <= (family === 4 ? 32 : 128);
}

export const hosts: SettingKind<readonly string[]> = {
  name: 'addresses or host names',
  parse(raw) {
    const list = typeof raw === 'string' ? raw.split(',').map(entry => entry.trim()) : [];
    if (list.length === 0 || !list.every(entry => isIP(entry) !== 0 || isHostName(entry))) {
      throw new Error('expected addresses or host names such as 203.0.113.7, separated by commas');
    }
    return list;
  },
};

function isHostName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/i.test(text);
}

/** **Source**: Let's Encrypt issues for at most as many names */
const maxDomains = 100;

/** Names that a certificate can be for, in their ASCII form. */
export const domains: SettingKind<readonly string[]> = {
  name: 'host names',
  parse(raw) {
    const list = typeof raw === 'string' ? raw.split(',').map(entry => entry.trim()) : [];
    if (list.some(entry => entry.includes('*')))
      throw new Error('expected host names without "*": list each name, since wildcards cannot be verified');
    const names = list.map(entry => (isIP(entry) === 0 ? domainToASCII(entry.replace(/\.$/, '')) : ''));
    if (names.length === 0 || !names.every(name => isIP(name) === 0 && isHostName(name))) {
      throw new Error('expected host names such as video.example.org, separated by commas');
    }
    const unique = [...new Set(names)];
    if (unique.length > maxDomains) throw new Error(`expected at most ${maxDomains} host names`);
    return unique;
  },
};

export const email: SettingKind<string> = {
  name: 'email address',
  parse(raw) {
    const reading = readEmail(text.parse(raw).trim());
    if (reading.email === undefined) throw new Error('expected an email address such as name@example.org');
    return reading.email;
  },
};

/** Issuer of OpenID Connect. A slash at the end belongs to it. */
export const issuerUrl: SettingKind<string> = {
  name: 'address',
  parse(raw) {
    httpUrl.parse(raw);
    return new URL(raw as string).href;
  },
};

/** Absolute, without query or fragment. Removes trailing slashes. */
export const httpUrl: SettingKind<string> = {
  name: 'address',
  parse(raw) {
    const url = typeof raw === 'string' ? URL.parse(raw) : null;
    if (url === null || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') {
      throw new Error('expected an address such as https://video.example.org');
    }
    return url.href.replace(/\/+$/, '');
  },
};

export const httpsUrl: SettingKind<string> = {
  name: httpUrl.name,
  parse(raw) {
    const url = httpUrl.parse(raw);
    if (!url.startsWith('https:')) throw new Error('expected an address that begins with https://');
    return url;
  },
};

/** The address of this server for everybody. Its path is the base path. */
export const publicAddress: SettingKind<string> = {
  name: httpUrl.name,
  parse(raw) {
    const url = httpUrl.parse(raw);
    const problem = basePathProblem(basePathOf(url));
    if (problem !== undefined) throw new Error(problem);
    return url;
  },
};
