import { STATUS_CODES } from 'node:http';
import { negotiateErrorFormat } from '../../http/responses/content-negotiation.ts';
import { errorBodyFor } from '../../http/responses/error-body.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { findRefusal } from '../viewer-refusals.ts';

interface ErrorResponse {
  readonly contentType: string;
  readonly body: Buffer;
  readonly headers: readonly string[];
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'request-invalid-query-parameter',
  403: 'playback-refused',
  404: 'resource-not-found',
  405: 'method-not-allowed',
  414: 'address-too-long',
  416: 'range-not-satisfiable',
  503: 'media-unavailable',
};

/** @param sentence plain text for a person. @param accept value of the `Accept` header */
export function errorResponse(
  status: number,
  sentence: string,
  accept: string | undefined,
  docsBase: string,
): ErrorResponse {
  const form = negotiateErrorFormat(accept);
  const headers = ['Vary', 'Accept'];
  if (form === 'html') {
    const policy = ['Content-Security-Policy', "default-src 'none'"];
    const body = Buffer.from(errorPage(status, sentence));
    return { contentType: 'text/html; charset=utf-8', body, headers: [...headers, ...policy] };
  }
  if (form === 'text') {
    return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(`${sentence}\n`), headers };
  }
  const code = codes[status];
  const error =
    code === undefined
      ? { title: 'Server error', status }
      : { ...errorBodyFor(code, status, sentence, docsBase), reason: findRefusal(sentence) };
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(error)), headers };
}

function errorPage(status: number, sentence: string): string {
  const title = STATUS_CODES[status] ?? 'Error';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${status} ${title}</title>
</head>
<body>
<h1>${status}</h1>
<p>${sentence.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>
</body>
</html>
`;
}
