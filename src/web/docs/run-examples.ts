import { serverUrl } from '../shared/base-path.ts';
import { answerText, createButton } from './answer-text.ts';
import { callerHeaders } from './caller.ts';

/** Options that change nothing about which request curl sends. */
const readingCall =
  /^curl(?: -s| -g| -i| -u \$KEY:)* (["']?)(https?:\/\/[^"'\s]+)\1(?: *\| *jq .*)?(?: *#.*)?$/;

/** Adds a button to examples that only read, for readers who are signed in. Run it again when examples or the caller have changed. */
export function addRunButtons(): void {
  // An answer to somebody else, or for another project.
  for (const answer of document.querySelectorAll('.answer')) answer.replaceChildren();
  callers += 1;
  // Operations have a form.
  for (const block of document.querySelectorAll<HTMLElement>('.code:not(.operation *)')) {
    const paths = callerHeaders() === undefined ? [] : pathsOf(block);
    const existing = block.querySelector<HTMLElement>('.run-example');
    if (paths.length === 0) {
      existing?.remove();
      block.parentElement?.querySelector(`:scope > .answer[data-of="${existing?.id}"]`)?.remove();
    } else if (existing === null) addRunButton(block);
  }
}

let buttons = 0;
let callers = 0;

function addRunButton(block: HTMLElement): void {
  const button = createButton('Run');
  buttons += 1;
  button.id = `run-${buttons}`;
  button.className = 'run-example';
  const answer = document.createElement('div');
  answer.className = 'answer';
  answer.dataset.of = button.id;
  answer.setAttribute('role', 'status');
  button.addEventListener('click', async () => {
    button.disabled = true;
    const caller = callers;
    const shown: Node[] = [];
    for (const path of pathsOf(block)) shown.push(...(await answerTo(path)));
    if (caller === callers) answer.replaceChildren(...shown);
    button.disabled = false;
    // The browser took the focus from the disabled button. The reader may have put it elsewhere since.
    if (document.activeElement === document.body) button.focus();
  });
  block.append(button);
  block.after(answer);
}

async function answerTo(path: string): Promise<Node[]> {
  const line = document.createElement('p');
  const body = document.createElement('pre');
  body.tabIndex = 0;
  body.setAttribute('aria-label', 'Answer');
  try {
    const response = await fetch(serverUrl + path, { headers: callerHeaders() ?? {}, cache: 'no-store' });
    line.textContent = `GET ${path}: ${response.status} ${response.statusText}`.trim();
    body.textContent = await answerText(response);
  } catch (error) {
    line.textContent = `GET ${path}: the call failed (${error instanceof Error ? error.message : String(error)})`;
  }
  return body.textContent === '' ? [line] : [line, body];
}

/** Paths of an example that consists of nothing but GET requests to this server. */
function pathsOf(block: HTMLElement): string[] {
  const code = block.querySelector('pre[data-language="sh"] code') ?? block.querySelector('pre code');
  const server = document.querySelector<HTMLElement>('#caller')?.dataset.server;
  const values = new Map<string, string>();
  const paths: string[] = [];
  for (const line of (code?.textContent ?? '').split('\n')) {
    const [, name, value] = /^(?:export )?([A-Z][A-Z_]*)=([\w.:/-]+)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) values.set(name, value);
    else if (!/^\s*(?:#.*)?$/.test(line)) {
      const command = line.replaceAll(
        /\$(?!KEY\b)([A-Z][A-Z_]*)/g,
        (use, of: string) => values.get(of) ?? use,
      );
      const url = readingCall.exec(command.trim())?.[2];
      if (url === undefined || server === undefined || !url.startsWith(`${server}/`) || url.includes('$'))
        return [];
      paths.push(url.slice(server.length));
    }
  }
  return paths;
}
