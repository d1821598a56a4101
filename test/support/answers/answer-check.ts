import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { errorRegister } from '../../../src/shared/errors.ts';
import type { OperationRule, StatusRule } from './answer-rules.ts';

/** An answer of one of our servers. */
export interface SeenAnswer {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** Undefined when it was not read. */
  readonly text: string | undefined;
}

/** Findings about an answer, compared with the document. */
export interface AnswerVerdict {
  /** Operation such as `GET /videos/{videoId} 200`; undefined for an answer that belongs to no operation. */
  readonly operation: string | undefined;
  readonly problems: readonly string[];
}

type Validator = ((value: unknown) => boolean) & {
  errors?: readonly { instancePath: string; message?: string; params: object }[] | null;
};

const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-retry-after'];
/** Told by every path of delivery, whatever it is about. */
const everywhereInDelivery = new Set([405, 414, 500]);

/** Holds answers against the rules that `prepare-answer-checks.ts` has made. */
export class AnswerCheck {
  /** Operations by the first segment of their paths. */
  readonly #operations: ReadonlyMap<string, readonly (OperationRule & { readonly matcher: RegExp })[]>;
  readonly #validators: Readonly<Record<string, Validator>>;

  /** @param folder where the rules are */
  constructor(folder: string) {
    const text = readFileSync(join(folder, 'operations.json'), 'utf8');
    const operations = (JSON.parse(text) as OperationRule[]).map(rule => ({
      ...rule,
      matcher: new RegExp(rule.pattern),
    }));
    this.#operations = Map.groupBy(operations, ({ path }) => firstSegment(path).replace(/^\{.*/, anyName));
    this.#validators = createRequire(import.meta.url)(join(folder, 'validators.cjs'));
  }

  /** Tells whether an answer comes from the API or from delivery; undefined when it comes from neither. */
  static originOf(header: (name: string) => string | null): 'api' | 'delivery' | undefined {
    if (header('x-request-id') !== null && header('x-ratelimit-limit') !== null) return 'api';
    const exposed = header('access-control-expose-headers') ?? '';
    return exposed.startsWith('Age, Date, Content-Length') ? 'delivery' : undefined;
  }

  judge(answer: SeenAnswer, origin: 'api' | 'delivery'): AnswerVerdict {
    const method = answer.method === 'HEAD' ? 'GET' : answer.method;
    const ofSegment = [firstSegment(answer.path), anyName].flatMap(key => this.#operations.get(key) ?? []);
    const ofPath = ofSegment.filter(
      rule => rule.isOfApi === (origin === 'api') && rule.matcher.test(answer.path),
    );
    // Chooses the most literal path, which is the first that matches.
    const rule = ofPath.find(({ path, method: own }) => path === ofPath[0]?.path && own === method);
    const problems = origin === 'api' ? this.#generalProblems(answer) : [];
    if (rule === undefined) {
      problems.push(...strayProblems(answer, ofPath.length > 0, origin));
      return { operation: undefined, problems };
    }
    const status = rule.byStatus[answer.status];
    if (status === undefined) {
      const isKnown = origin === 'delivery' && everywhereInDelivery.has(answer.status);
      if (!isKnown) problems.push(`the status ${answer.status} is not in the document`);
      return { operation: undefined, problems };
    }
    problems.push(...this.#statusProblems(answer, status));
    return { operation: `${rule.method} ${rule.path} ${answer.status}`, problems };
  }

  #generalProblems({ header, status, text }: SeenAnswer): string[] {
    const problems = rateHeaders
      .filter(name => !/^\d+$/.test(header(name) ?? ''))
      .map(name => `${name} is ${header(name)}`);
    if (status >= 400 && text !== undefined && text !== '') problems.push(...typeProblems(text, status));
    return problems;
  }

  #statusProblems({ method, header, text, status }: SeenAnswer, rule: StatusRule): string[] {
    const type = header('content-type');
    const problems = rule.headers
      .filter(name => header(name) === null)
      .map(name => `the header ${name} is missing`);
    if (rule.types.length === 0) {
      if (type !== null) problems.push(`an empty answer has the content type ${type}`);
      if (text !== undefined && text !== '') problems.push('there is a body where the document has none');
      return problems;
    }
    if (status === 304) return problems;
    if (type === null || !rule.types.includes(type)) {
      problems.push(`the content type is ${type}, not ${rule.types.join(' or ')}`);
    }
    if (type !== 'application/json' || text === undefined || method === 'HEAD') return problems;
    const validate = rule.validator === undefined ? undefined : this.#validators[rule.validator];
    if (validate !== undefined && !validate(JSON.parse(text))) {
      for (const { instancePath, message, params } of validate.errors?.slice(0, 5) ?? []) {
        problems.push(`the body at ${instancePath || '/'} ${message} ${JSON.stringify(params)}`);
      }
    }
    return problems;
  }
}

/** Stands for the first segment of paths that begin with a name. */
const anyName = '{}';

function firstSegment(path: string): string {
  return path.split('/', 2)[1] ?? '';
}

/** Problems of an answer to a request that no operation takes. */
function strayProblems(
  { method, path, status, header }: SeenAnswer,
  isPathKnown: boolean,
  origin: 'api' | 'delivery',
): string[] {
  if (method === 'OPTIONS') return status === 204 ? [] : [`OPTIONS was answered with ${status}`];
  if (status === 405) return header('allow') === null ? ['405 comes without Allow'] : [];
  // The front page for browsers: the document has what others get there.
  if (origin === 'delivery' && path === '/') return [];
  if (status === 404 || (origin === 'delivery' && status === 414)) return [];
  return [`${isPathKnown ? 'the method' : 'the path'} is not in the document, and the status is ${status}`];
}

function typeProblems(text: string, status: number): string[] {
  const body = JSON.parse(text) as { type?: string; status?: number; problems?: { type?: string }[] };
  const types = [body.type, ...(body.problems ?? []).map(({ type }) => type)].filter(
    type => type !== undefined,
  );
  const slugs = types.map(type => /\/docs\/errors\/([\w-]+)$/.exec(type)?.[1] ?? type);
  const unknown = slugs
    .filter(slug => !Object.hasOwn(errorRegister, slug))
    .map(slug => `no error is called ${slug}`);
  return body.status === status ? unknown : [...unknown, `the body says ${body.status}`];
}
