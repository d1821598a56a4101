import type { EventType } from '../../../events/event-catalogue.ts';

export interface Webhook {
  readonly webhookId: string;
  readonly projectId: string;
  readonly events: readonly EventType[];
  /** Exactly as it was sent. */
  readonly url: string;
  readonly signatureSecret: string;
  readonly createdAtMs: number;
}

export const maxUrlChars = 2_048;

export function urlProblem(url: string): string | undefined {
  if (url === '') return 'This value should not be blank.';
  if (url.length > maxUrlChars) return `This value should not contain more than ${maxUrlChars} characters.`;
  // The URL parser drops some of these characters: the URL that is shown would not be the one that is called.
  if (!url.isWellFormed() || /[\s\p{Cc}\\]/u.test(url)) return 'This value is not a valid URL.';
  const parsed = /^https?:\/\/[^/]/i.test(url) ? URL.parse(url) : null;
  if (parsed === null || parsed.hostname === '') return 'This value should be an http or https URL.';
  if (!isPercentEncoded(parsed.username + parsed.password)) {
    return 'The name or the password in this URL is not percent-encoded as it should be.';
  }
  return undefined;
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
