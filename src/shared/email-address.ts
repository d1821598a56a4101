import { domainToASCII, domainToUnicode } from 'node:url';

declare const canonical: unique symbol;

/** An email address in its only spelling. {@link readEmail} makes it; it is stored and compared byte by byte. */
export type EmailAddress = string & { readonly [canonical]: true };

type EmailReading =
  | { readonly email: EmailAddress; readonly problem?: undefined }
  | { readonly email?: undefined; readonly problem: string };

const maxLocalLength = 64;
const maxDomainLength = 253;
/** Maximum length of an address. */
export const maxEmailLength = 320;

const localCharacters = String.raw`[A-Za-z0-9!#$%&'*+/=?^_\x60{|}~-]+`;
/** A letter or digit, also beyond ASCII. */
const letter = String.raw`[^\x00-/:-@\[-\x60{-\x7f]`;
const domainLabel = `${letter}(?:(?:${letter}|-)*${letter})?`;
/** Pattern in the API document. Letters beyond ASCII must also be in their usual form. */
export const emailPattern = `^(?=[^@]{1,64}@)${localCharacters}(?:\\.${localCharacters})*@${domainLabel}(?:\\.${domainLabel})*$`;

/**
 * Returns the only spelling of an address: an ASCII mailbox in lower case, and a host name as DNS knows it (IDNA). Refuses
 * what mail servers or people could take for another address. Also accepts `name@host`, for machines without a domain.
 * **Source**: RFC 5321, 4.5.3.1 for the lengths
 */
export function readEmail(text: string): EmailReading {
  if (text.length > maxEmailLength) return { problem: 'The email address is too long.' };
  const [, local, domain] = /^([^@]+)@([^@]+)$/.exec(text) ?? [];
  if (local === undefined || domain === undefined) {
    return { problem: 'An email address looks like name@example.org.' };
  }
  const problem = problemOfLocal(local);
  if (problem !== undefined) return { problem };
  const host = canonicalDomain(domain);
  if (host === undefined) {
    return {
      problem: 'The part after the @ is not a host name. Write it in its usual letters, like example.org.',
    };
  }
  return { email: `${local.toLowerCase()}@${host}` as EmailAddress };
}

function problemOfLocal(local: string): string | undefined {
  if (!/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+$/.test(local)) {
    return "The part before the @ may only have the letters a to z, digits and the characters .!#$%&'*+/=?^_`{|}~-";
  }
  if (local.length > maxLocalLength) return 'The email address is too long.';
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) {
    return 'A dot in an email address must be between other characters.';
  }
  return undefined;
}

/** Undefined for texts that are no host name, and for letters that IDNA drops or takes for others, such as full-width ones. */
function canonicalDomain(domain: string): string | undefined {
  const labels = domain.split('.').map(canonicalLabel);
  const last = labels.at(-1);
  // A number at the end makes it an IP address (WHATWG URL, 3.5).
  if (last === undefined || labels.includes(undefined) || /^(?:\d+|0x[0-9a-f]*)$/.test(last))
    return undefined;
  const host = labels.join('.');
  return host.length <= maxDomainLength ? host : undefined;
}

function canonicalLabel(label: string): string | undefined {
  const lower = label.normalize('NFC').toLowerCase();
  const encoded = isAscii(label) ? lower : domainToASCII(lower);
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(encoded)) return undefined;
  if (!isAscii(label))
    return hasOwnLetters(label) && domainToUnicode(encoded) === lower ? encoded : undefined;
  if (!encoded.startsWith('xn--')) return encoded;
  const decoded = domainToUnicode(encoded);
  return !isAscii(decoded) && domainToASCII(decoded) === encoded ? encoded : undefined;
}

/** False with a letter such as the Kelvin sign, which is a k in lower case. */
function hasOwnLetters(label: string): boolean {
  return [...label].every(
    letter => isAscii(letter) || !/[\0-\x7f]/.test(letter.normalize('NFC').toLowerCase()),
  );
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
