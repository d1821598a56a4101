import type { EventType } from '../../events/event-catalogue.ts';

/** Where events of a project are sent to. */
export interface Webhook {
  readonly webhookId: string;
  readonly projectId: string;
  readonly events: readonly EventType[];
  /** As its owner wrote it. */
  readonly url: string;
  /** Key of the signatures, with its prefix. */
  readonly signatureSecret: string;
  readonly createdAtMs: number;
}

/** Of an account: its two projects share them. */
export const maxWebhooks = 10;

const maxUrlChars = 2_048;

/** Why something cannot be the address of a webhook, as a sentence for its owner; undefined when it can. */
export function urlProblem(url: string): string | undefined {
  if (url === '') return 'This value should not be blank.';
  if (url.length > maxUrlChars) return `This value should not contain more than ${maxUrlChars} characters.`;
  // The parser would leave some of these out, and what is shown would not be what is called.
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
