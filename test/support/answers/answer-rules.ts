import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import addFormats from 'ajv-formats';
import {
  type ApiDocument,
  buildApiDocument,
  operationsOf,
  responseAt,
} from '../../../scripts/api-document.ts';

/** Rules for answers with some status. */
export interface StatusRule {
  /** Exactly one of these; empty where nothing is sent. */
  readonly types: readonly string[];
  /** Headers that must be there, in lower case. */
  readonly headers: readonly string[];
  /** Export of the validators' module that checks a JSON body. */
  readonly validator: string | undefined;
}

/** Rules for the answers of one operation. */
export interface OperationRule {
  readonly method: string;
  /** Path with `{names}`. */
  readonly path: string;
  /** Source of a regular expression for the whole path. */
  readonly pattern: string;
  /** True when the API answers, and not a check before it. */
  readonly isOfApi: boolean;
  readonly byStatus: Readonly<Record<string, StatusRule>>;
}

/** The rules of a whole document, and the validators that they name as the text of a CommonJS module. */
export interface AnswerRules {
  readonly operations: readonly OperationRule[];
  readonly validators: string;
}

const optionalHeaders = new Set(['retry-after', 'etag', 'cache-control', 'content-range', 'accept-ranges']);

/** Makes rules for answers of the OpenAPI document of the sources as they are. */
export async function makeAnswerRules(): Promise<AnswerRules> {
  const document = await buildApiDocument();
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, code: { source: true } });
  addFormats.default(ajv);
  ajv.addVocabulary(['components']);
  ajv.addSchema({ $id: 'document', components: document.components });
  const names = new Map<string, string>();
  const validatorOf = (schema: object): string => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const known = names.get(text);
    if (known !== undefined) return known;
    const name = `v${names.size}`;
    ajv.addSchema({ ...JSON.parse(text), $id: name });
    names.set(text, name);
    return name;
  };
  const operations = operationsOf(document)
    .map(({ method, path, operation }): OperationRule => {
      const rules = Object.entries(operation.responses).map(([status, response]) => [
        status,
        statusRule(document, response, validatorOf),
      ]);
      return {
        method,
        path,
        pattern: `^${path.replace(/[.\\]/g, String.raw`\$&`).replace(/\{\w+\}/g, '[^/]+')}$`,
        isOfApi: Object.values(operation.responses).some(
          response => responseAt(document, response).headers?.['X-Request-Id'] !== undefined,
        ),
        byStatus: Object.fromEntries(rules),
      };
    })
    .sort((a, b) => literalPrefix(b.path) - literalPrefix(a.path));
  const exported = Object.fromEntries([...names.values()].map(name => [name, name]));
  return { operations, validators: standalone.default(ajv, exported) };
}

function statusRule(
  document: ApiDocument,
  response: Parameters<typeof responseAt>[1],
  validatorOf: (schema: object) => string,
): StatusRule {
  const { content = {}, headers = {} } = responseAt(document, response);
  const json = content['application/json'];
  return {
    types: Object.keys(content),
    headers: Object.keys(headers)
      .map(name => name.toLowerCase())
      .filter(name => !optionalHeaders.has(name)),
    validator: json === undefined ? undefined : validatorOf(json.schema),
  };
}

/** `/videos/recent` is meant before `/videos/{videoId}`. */
function literalPrefix(path: string): number {
  return path
    .split('/')
    .reduce((score, part, depth) => score + (part.includes('{') ? 0 : 2 ** (20 - depth)), 0);
}
