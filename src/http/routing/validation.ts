import * as z from 'zod';
import { AppError, type ErrorCode, errorRegister, type Problem } from '../../shared/errors.ts';
import { unwrapSchema } from './query-parameters.ts';

/** Missing body attributes have an error of their own, missing query parameters do not. */
type ProblemSource = 'body' | 'query';

const nullDetail = 'This value should not contain the character U+0000.';
const invalidTitle = 'An attribute is invalid.';
/** Problems that are listed. Further ones are only counted: a body of a megabyte can have a hundred thousand. */
const maxProblems = 100;
const maxNameLength = 200;

export interface InputPart {
  readonly source: ProblemSource;
  readonly schema: z.ZodObject;
  readonly input: unknown;
}

/** @throws AppError `invalid-attribute`, or `attribute-required` when fields are only missing */
export function validate(parts: readonly InputPart[]): unknown[] {
  const problems: Problem[] = [];
  const values = parts.map(part => {
    const result = part.schema.safeParse(part.input);
    if (!result.success) {
      const found = result.error.issues.flatMap(issue => problemsOf(issue, part));
      problems.push(...withProblemType(part.schema.meta()?.problemType as ErrorCode | undefined, found));
    } else if (containsNull(result.data)) {
      problems.push(...nullProblems(result.data, []));
    }
    return result.data;
  });
  if (problems.length > 0) throw validationError(problems);
  return values;
}

/** SQL and clients end texts at U+0000, and PostgreSQL refuses them. */
function containsNull(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(containsNull);
  if (value instanceof Map) return containsNull([...value]);
  return Object.keys(value).some(key => containsNull(key) || containsNull(value[key as keyof typeof value]));
}

function nullProblems(value: unknown, path: readonly PropertyKey[]): Problem[] {
  if (typeof value === 'string') {
    return value.includes('\0') ? [invalidValue(path, nullDetail)] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const entries = value instanceof Map ? value : Object.entries(value);
  return [...entries].flatMap(([key, inner]) => [
    ...nullProblems(key, path),
    ...nullProblems(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  ]);
}

/** Names the problems without list indexes. */
function withProblemType(type: ErrorCode | undefined, problems: readonly Problem[]): readonly Problem[] {
  if (type === undefined) return problems;
  return problems.map(problem =>
    problem.title !== invalidTitle
      ? problem
      : {
          ...problem,
          type,
          title: errorRegister[type].title,
          name: problem.name.replace(/(?<=\])\[\d+\]$/, ''),
        },
  );
}

/** Refuses an attribute that breaks a rule outside of the schema, such as an id that must exist. */
export function attributeError(name: string, detail: string): AppError {
  return validationError([{ type: 'invalid-attribute', title: invalidTitle, name, detail }]);
}

export function nullCharacterError(name: string): AppError {
  return attributeError(name, nullDetail);
}

export function unknownAttributeError(name: string): AppError {
  return validationError([unknownField([name])]);
}

function validationError(problems: readonly Problem[]): AppError {
  const areAllMissing = problems.every(problem => problem.type === 'attribute-required');
  const name = problems[0]?.name ?? '';
  const more = problems.length > 1 ? { detail: `${problems.length} attributes were refused.` } : {};
  return new AppError(areAllMissing ? 'attribute-required' : 'invalid-attribute', undefined, {
    details: { name, ...more, problems: problems.slice(0, maxProblems) },
  });
}

function problemsOf(issue: z.core.$ZodIssue, part: InputPart): Problem[] {
  if (issue.code !== 'unrecognized_keys') return [problemOf(issue, part)];
  return issue.keys.map(key => unknownField([...issue.path, key]));
}

function problemOf(issue: z.core.$ZodIssue, { schema, input, source }: InputPart): Problem {
  const value = valueAt(input, issue.path);
  const name = nameOf(issue.path);
  switch (issue.code) {
    case 'invalid_type':
      return typeProblem(issue.path, expectedType(issue, schema), value, source);
    case 'too_small':
    case 'too_big':
      if (issue.origin === 'number' || issue.origin === 'int') {
        const title = 'This parameter is out of the allowed range of values.';
        return { title, name, range: rangeOf(schema.shape[name]) };
      }
      return invalidValue(issue.path, sizeDetail(issue));
    case 'invalid_value':
      if (value === undefined || value === null) return typeProblem(issue.path, 'string', value, source);
      return invalidValue(issue.path, `This value should be one of ${issue.values.map(quote).join(', ')}.`);
    case 'invalid_format':
      if (issue.format === 'datetime')
        return { type: 'invalid-attribute', title: 'This attribute must be a ISO-8601 date.', name };
      return invalidValue(issue.path, issue.message);
    case 'custom':
      return invalidValue(issue.path, issue.message);
    default:
      return invalidValue(issue.path, 'This value is not valid.');
  }
}

function typeProblem(
  path: readonly PropertyKey[],
  expected: string,
  value: unknown,
  source: ProblemSource,
): Problem {
  const name = nameOf(path);
  if (value === undefined && source === 'body' && path.length === 1) {
    return { type: 'attribute-required', title: 'This attribute is required.', name };
  }
  if (expected === 'array' && value !== undefined) {
    return { type: 'invalid-attribute', title: 'This attribute must be an array.', name };
  }
  if (value === undefined) return invalidValue(path, 'This value should not be blank.');
  if (value === null) return invalidValue(path, 'This value should not be null.');
  return invalidValue(path, `This value must be of type ${expected}.`);
}

function expectedType(issue: z.core.$ZodIssueInvalidType, schema: z.ZodObject): string {
  if (issue.expected === 'int') return 'integer';
  const field = schema.shape[nameOf(issue.path)];
  const base = field === undefined ? undefined : unwrapSchema(field);
  return base instanceof z.ZodNumber && base.format === 'safeint' ? 'integer' : issue.expected;
}

function rangeOf(field: z.core.$ZodType | undefined): { min?: number; max?: number } {
  const number = field === undefined ? undefined : unwrapSchema(field);
  if (!(number instanceof z.ZodNumber)) return {};
  return {
    ...(Number.isFinite(number.minValue) ? { min: Number(number.minValue) } : {}),
    ...(Number.isFinite(number.maxValue) ? { max: Number(number.maxValue) } : {}),
  };
}

function sizeDetail(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  if (issue.code === 'too_small') {
    if (issue.origin === 'string') return 'This value should not be blank.';
    return `This collection should contain ${issue.minimum} elements or more.`;
  }
  if (issue.origin === 'string')
    return `This value should not contain more than ${issue.maximum} characters.`;
  return `This collection should contain ${issue.maximum} elements or less.`;
}

function invalidValue(path: readonly PropertyKey[], detail: string): Problem {
  return { type: 'invalid-attribute', title: invalidTitle, name: nameOf(path), detail };
}

function unknownField(path: readonly PropertyKey[]): Problem {
  return invalidValue(path, 'This field was not expected.');
}

/** Formats `['restreams', 0, 'serverUrl']` as `restreams[0][serverUrl]`; shortens very long names. */
function nameOf(path: readonly PropertyKey[]): string {
  const name = path.map((part, depth) => (depth === 0 ? String(part) : `[${String(part)}]`)).join('');
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength).toWellFormed()}…`;
}

function quote(value: unknown): string {
  return `"${String(value)}"`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}
