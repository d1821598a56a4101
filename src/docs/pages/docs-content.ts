import { adviceOf, type ErrorCode, errorRegister } from '../../shared/error-register.ts';

export function fillPage(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorRegister, text);
}

export function errorHtml(code: ErrorCode, basePath: string): string {
  const { title, blame, status } = errorRegister[code];
  const { meaning, remedy } = adviceOf(code);
  return `<h1>${escapeHtml(title)}</h1>
<dl class="facts">
<dt>Status</dt><dd>${status}</dd>
<dt>Code</dt><dd><code>${code}</code></dd>
<dt>Caused by</dt><dd>${blameLabels[blame]}</dd>
</dl>
<h2>What it means</h2>
<p>${formatCode(meaning)}</p>
<h2>What to do</h2>
<p>${formatCode(remedy)}</p>
<p><a href="${basePath}/docs#errors">Error format</a></p>`;
}

export function errorTableHtml(basePath: string): string {
  const rows = (Object.keys(errorRegister) as ErrorCode[])
    .filter(code => errorRegister[code].blame === 'caller' || errorRegister[code].status === 503)
    .map(
      code =>
        `<tr><td>${errorRegister[code].status}</td><td><a href="${basePath}/docs/errors/${code}"><code>${code}</code></a></td>` +
        `<td>${escapeHtml(errorRegister[code].title)}</td></tr>`,
    );
  return `<h1>Errors</h1>
<p>The last part of an error's <code>type</code> is its code.</p>
<table class="errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

const blameLabels: Readonly<Record<(typeof errorRegister)[ErrorCode]['blame'], string>> = {
  caller: 'The request',
  publisher: 'The media that was sent',
  destination: 'Another server',
  server: 'This server',
};

function formatCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
