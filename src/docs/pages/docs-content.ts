import { adviceOf, type ErrorCode, errorRegister } from '../../shared/error-register.ts';
import { escapeHtml, inlineHtml } from '../site/html.ts';

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorRegister, text);
}

/** Codes that a caller of the API can meet. */
function callerErrors(): ErrorCode[] {
  return (Object.keys(errorRegister) as ErrorCode[]).filter(
    code => errorRegister[code].blame === 'caller' || errorRegister[code].status === 503,
  );
}

export function errorHtml(code: ErrorCode): string {
  const { title, blame, status } = errorRegister[code];
  const { meaning, remedy } = adviceOf(code);
  return `<h1>${escapeHtml(title)}</h1>
<dl class="facts">
<dt>Status</dt><dd>${status}</dd>
<dt>Code</dt><dd><code>${code}</code></dd>
<dt>Caused by</dt><dd>${blameLabels[blame]}</dd>
</dl>
<h2>What it means</h2>
<p>${inlineHtml(meaning)}</p>
<h2>What to do</h2>
<p>${inlineHtml(remedy)}</p>
<p><a href="{{base}}/docs/errors">All errors</a>, and <a href="{{base}}/docs/api#errors">the format that they share</a></p>`;
}

export function errorTableHtml(): string {
  const rows = callerErrors().map(
    code =>
      `<tr><td>${errorRegister[code].status}</td><td><a href="{{base}}/docs/errors/${code}"><code>${code}</code></a></td>` +
      `<td>${escapeHtml(errorRegister[code].title)}</td></tr>`,
  );
  return `<h1>Errors</h1>
<p>The last part of an error's <code>type</code> is its code. <a href="{{base}}/docs/api#errors">All errors have one format.</a></p>
<div class="table" tabindex="0" role="region" aria-label="Errors"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>`;
}

const blameLabels: Readonly<Record<(typeof errorRegister)[ErrorCode]['blame'], string>> = {
  caller: 'The request',
  publisher: 'The media that was sent',
  destination: 'Another server',
  server: 'This server',
};
