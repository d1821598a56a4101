import { t } from '../texts/shell.ts';
import type { ErrorBody } from './api-types.ts';

export class ApiProblem extends Error {
  /** 0 if the server was not reached. */
  readonly status: number;
  /** Last part of the error's `type`, such as `title-required`. */
  readonly code: string;
  readonly detail: string | undefined;
  readonly attribute: string | undefined;
  readonly problems: readonly { readonly attribute: string; readonly text: string }[];
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, body: Partial<ErrorBody>, retryAfterSeconds?: number) {
    super(body.title ?? t('problem.unknown'));
    this.status = status;
    this.code = (body.type ?? '').split('/').at(-1) ?? '';
    this.detail = body.detail;
    this.attribute = body.name;
    this.problems = (
      body.problems ?? [
        { title: this.message, name: body.name ?? '', detail: body.detail, range: body.range },
      ]
    ).map(({ name, title, detail, range }) => ({
      attribute: name,
      text: detail ?? rangeText(range) ?? title,
    }));
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get text(): string {
    return this.detail === undefined || this.detail === this.message
      ? this.message
      : `${this.message.replace(/[.!]?$/, '.')} ${this.detail}`;
  }
}

export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(0, { title: error instanceof Error ? error.message : String(error) });
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

function rangeText({ min, max }: NonNullable<ErrorBody['range']> = {}): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  if (max === undefined) return t('form.minNumber', { min: min! });
  return min === undefined ? t('form.maxNumber', { max }) : t('form.number', { min, max });
}
