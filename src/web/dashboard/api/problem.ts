import type { ErrorBody } from './api-types.ts';

/** What the API, or the way to it, said instead of an answer. */
export class ApiProblem extends Error {
  /** Of HTTP; 0 when the server was not reached. */
  readonly status: number;
  /** Last part of the error's address, such as `title-required`; what a title cannot tell apart. */
  readonly code: string;
  readonly detail: string | undefined;
  /** The attribute that is wrong, where there is one. */
  readonly attribute: string | undefined;
  /** All that is wrong, by attribute. */
  readonly problems: readonly { readonly attribute: string; readonly text: string }[];
  /** Until it is worth another try, where the server said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, body: Partial<ErrorBody>, retryAfterSeconds?: number) {
    super(body.title ?? 'The server answered with an error that it did not name.');
    this.status = status;
    this.code = (body.type ?? '').split('/').at(-1) ?? '';
    this.detail = body.detail;
    this.attribute = body.name;
    this.problems = (
      body.problems ?? [{ title: this.message, name: body.name ?? '', detail: body.detail }]
    ).map(({ name, title, detail }) => ({ attribute: name, text: detail ?? title }));
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** What is told to the person: title, and the detail where it says more. */
  get text(): string {
    return this.detail === undefined || this.detail === this.message
      ? this.message
      : `${this.message.replace(/[.!]?$/, '.')} ${this.detail}`;
  }
}

/** Whatever was thrown as something that can be shown. */
export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(0, { title: error instanceof Error ? error.message : String(error) });
}

/** Whether a request was given up on purpose. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
