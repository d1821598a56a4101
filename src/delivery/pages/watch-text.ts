import { escapeHtml } from '../../shared/escape-html.ts';

/** Web addresses, and times such as `1:02:03`. Controls of the text direction end an address: they could show it as another. */
const links =
  /(https?:\/\/[^\s<>"'\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]{1,2000})|(?<![\d:.])(?:(\d{1,2}):)?([0-5]?\d):([0-5]\d)(?![\d:])/g;
const trailing = '.,;:!?)]}';

/** Formats plain text as HTML: web addresses become links, and times of a video links that seek. */
export function textToHtml(text: string, hasTimes: boolean): string {
  let html = '';
  let end = 0;
  for (const match of text.matchAll(links)) {
    const [found, address, hours = '0', minutes, seconds] = match;
    const link = address === undefined ? found : withoutTrailing(address);
    const href =
      address === undefined
        ? hasTimes && `#t=${(Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)}`
        : URL.canParse(link) && link;
    if (!href) continue;
    html += escapeHtml(text.slice(end, match.index));
    const rel = address === undefined ? '' : ' rel="nofollow noopener noreferrer ugc"';
    // An isolated direction: that of the text around it does not apply.
    html += `<a href="${escapeHtml(href)}" dir="ltr"${rel}>${escapeHtml(link)}</a>`;
    end = match.index + link.length;
  }
  return html + escapeHtml(text.slice(end));
}

function withoutTrailing(address: string): string {
  if (address.includes('(') && address.endsWith(')')) return address;
  let end = address.length;
  while (trailing.includes(address.charAt(end - 1))) end -= 1;
  return address.slice(0, end);
}

const maxSummaryChars = 200;

/** Shortens a text to one line, for search engines and other sites. */
export function summaryOf(text: string): string {
  const line = text
    .slice(0, 4 * maxSummaryChars)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= maxSummaryChars) return line;
  const cut = line.slice(0, maxSummaryChars - 1).toWellFormed();
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), maxSummaryChars / 2)).trimEnd()}…`;
}

/** Formats data as JSON inside of a script element, which its text cannot end. */
export function jsonForScript(data: unknown): string {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** **Source**: ISO 8601, durations */
export function isoDuration(seconds: number): string {
  return `PT${Math.max(0, Math.round(seconds))}S`;
}

export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds + 0.01));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
