import { AppError, type ErrorCode, errorRegister } from '../../shared/errors.ts';
import { adviceOf } from './error-advice.ts';

/** Puts values in place of their `{{name}}`. Values are HTML. */
export function fillPage(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** Text as it may stand in HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}

/** Whether the register has an error of this name. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorRegister, text);
}

/** The HTML about one error. */
export function errorHtml(code: ErrorCode): string {
  const { title, blame } = errorRegister[code];
  const { status } = new AppError(code);
  const { meaning, remedy } = adviceOf(code);
  return `<h1>${escapeHtml(title)}</h1>
<dl class="facts">
<dt>Status</dt><dd>${status}</dd>
<dt>Code</dt><dd><code>${code}</code></dd>
<dt>Lies with</dt><dd>${blameLabels[blame]}</dd>
</dl>
<h2>What it means</h2>
<p>${formatCode(meaning)}</p>
<h2>What to do</h2>
<p>${formatCode(remedy)}</p>
<p><a href="/docs#errors">How errors look</a></p>`;
}

/** The HTML of the table of all errors that a caller can get. */
export function errorTableHtml(): string {
  const rows = (Object.keys(errorRegister) as ErrorCode[])
    .filter(code => errorRegister[code].blame === 'caller' || new AppError(code).status === 503)
    .map(
      code =>
        `<tr><td>${new AppError(code).status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td>` +
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
  caller: 'The request.',
  publisher: 'What was sent as media.',
  destination: 'Another server.',
  server: 'This server, or whoever runs it.',
};

/** Text in which what stands between backticks is code. */
function formatCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
