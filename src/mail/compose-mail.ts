import { escapeHtml } from '../shared/escape-html.ts';
import type { Mail } from './mailer.ts';

interface MailContent {
  readonly to: string;
  readonly subject: string;
  readonly greeting: string;
  readonly link: { readonly label: string; readonly url: string };
  readonly advice: string;
}

/** Returns a mail as text and as HTML. */
export function composeMail({ to, subject, greeting, link, advice }: MailContent): Mail {
  return {
    to,
    subject,
    text: `${greeting}\n\n${link.label}:\n${link.url}\n\n${advice}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family: sans-serif">',
      `<p>${escapeHtml(greeting)}</p>`,
      `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`,
      `<p>${escapeHtml(advice)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}
