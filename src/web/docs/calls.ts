import { serverUrl } from '../shared/base-path.ts';
import { answerText, createButton } from './answer-text.ts';
import { callerHeaders } from './caller.ts';

interface Field {
  readonly name: string;
  readonly place: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly control: HTMLInputElement;
}

/** Lets readers call operations. */
export function addCalls(): void {
  for (const operation of document.querySelectorAll<HTMLElement>('.operation[data-method]')) {
    const place = operation.querySelector<HTMLElement>('.run')!;
    const button = createButton('Try it');
    button.setAttribute('aria-expanded', 'false');
    button.addEventListener('click', () => {
      const form = place.querySelector('form');
      if (form === null) place.append(callForm(operation));
      else form.hidden = !form.hidden;
      button.setAttribute('aria-expanded', String(form === null || !form.hidden));
    });
    place.append(button);
    place.hidden = false;
  }
}

/** Makes the form of an operation from what its page says. */
function callForm(operation: HTMLElement): HTMLFormElement {
  const form = document.createElement('form');
  form.setAttribute('aria-label', operation.querySelector('h2')!.firstChild!.textContent ?? '');
  const fields = [...operation.querySelectorAll<HTMLElement>('.parameters > li')].map(item => {
    const { name = '', in: place = '', type = '' } = item.dataset;
    const control = document.createElement('input');
    control.autocomplete = 'off';
    control.required = 'required' in item.dataset;
    form.append(labelled(`${name}${control.required ? '' : ' (optional)'}`, control));
    return { name, place, type, isRequired: control.required, control };
  });
  const body = operation.querySelector<HTMLElement>('[data-body]');
  const bodyControl = body === null ? undefined : bodyControlOf(body);
  if (bodyControl !== undefined) form.append(labelled('Body', bodyControl));
  const send = createButton('Send');
  send.type = 'submit';
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  const answer = document.createElement('pre');
  answer.tabIndex = 0;
  answer.hidden = true;
  form.append(send, status, answer);
  form.addEventListener('submit', async event => {
    event.preventDefault();
    status.textContent = 'Sending …';
    answer.hidden = true;
    try {
      const response = await fetch(addressOf(operation, fields), {
        method: operation.dataset.method!,
        headers: headersOf(operation, fields, bodyControl),
        body: bodyOf(bodyControl),
        redirect: 'manual',
      });
      answer.textContent = await answerText(response);
      answer.hidden = answer.textContent === '';
      status.textContent =
        response.type === 'opaqueredirect'
          ? 'A redirect'
          : `${response.status} ${response.statusText}`.trim();
    } catch (error) {
      status.textContent = `The call failed: ${error instanceof Error ? error.message : String(error)}`;
    }
  });
  return form;
}

function bodyControlOf(body: HTMLElement): HTMLInputElement | HTMLTextAreaElement {
  if (body.dataset.body === 'multipart/form-data') {
    const file = document.createElement('input');
    file.type = 'file';
    return file;
  }
  const text = document.createElement('textarea');
  text.value = body.textContent ?? '';
  text.rows = Math.min(14, text.value.split('\n').length + 1);
  text.spellcheck = false;
  return text;
}

/** Addresses of lists and maps are written as the server reads them. */
function addressOf(operation: HTMLElement, fields: readonly Field[]): string {
  const query = new URLSearchParams();
  let path = operation.dataset.path!;
  for (const { name, place, type, control } of fields) {
    const { value } = control;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query' && value !== '') {
      const values = type === 'array' ? value.split(',').map(one => one.trim()) : [value];
      if (type !== 'object') for (const one of values) query.append(name, one);
      else for (const [key, one] of mapEntries(value)) query.append(`${name}[${key}]`, one);
    }
  }
  return `${serverUrl}${path}${query.size === 0 ? '' : `?${query}`}`;
}

/** Reads `{"shot": "12"}`, or `shot=12`. */
function mapEntries(text: string): [string, string][] {
  if (!text.trimStart().startsWith('{')) return [...new URLSearchParams(text)];
  return Object.entries(JSON.parse(text) as object).map(([key, value]) => [key, String(value)]);
}

function headersOf(
  operation: HTMLElement,
  fields: readonly Field[],
  body: HTMLInputElement | HTMLTextAreaElement | undefined,
): Headers {
  const headers = new Headers();
  for (const { name, place, control } of fields)
    if (place === 'header' && control.value !== '') headers.set(name, control.value);
  if (body instanceof HTMLTextAreaElement) headers.set('Content-Type', 'application/json');
  if (operation.dataset.credential !== 'key') return headers;
  for (const [name, value] of Object.entries(callerHeaders() ?? {})) headers.set(name, value);
  return headers;
}

function bodyOf(control: HTMLInputElement | HTMLTextAreaElement | undefined): string | FormData | null {
  if (control === undefined) return null;
  if (control instanceof HTMLTextAreaElement) return control.value;
  const form = new FormData();
  for (const file of control.files ?? []) form.set('file', file);
  return form;
}

function labelled(name: string, control: HTMLElement): HTMLLabelElement {
  const label = document.createElement('label');
  label.append(name, control);
  return label;
}
