import { createRequire } from 'node:module';
import ApiVideoClient from '@api.video/nodejs-client';

const require = createRequire(import.meta.url);
const library = '@api.video/nodejs-client/lib';

type Method = (...args: unknown[]) => unknown;
type Callable = Record<string, Method>;
interface Attribute {
  readonly baseName: string;
}

/** Parameters that the client's code for one method can send. */
interface MethodInfo {
  /** Name such as `videos.create`. */
  readonly name: string;
  /** Names of all that the method can put into the query and the body, such as `?sortBy` and `{title`. */
  readonly parameters: readonly string[];
  /** Undefined where the method itself sends nothing. */
  readonly request: { readonly method: string; readonly path: RegExp } | undefined;
}

/** The parts of the client, such as `videos`: its getters. */
export const clientParts: readonly string[] = Object.entries(
  Object.getOwnPropertyDescriptors(ApiVideoClient.prototype),
).flatMap(([name, { get }]) => (get === undefined ? [] : name));

/**
 * Notes what clients of the reference API's Node library are asked to do and what they send for it, and knows from the library's
 * code what they could be asked and could send.
 */
export class ClientCoverage {
  readonly #called = new Set<string>();
  readonly #sent: { method: string; path: string; parameters: readonly string[] }[] = [];

  /** Makes a client that is watched. */
  client(options: ConstructorParameters<typeof ApiVideoClient>[0]): ApiVideoClient {
    const client = new ApiVideoClient(options);
    this.#watchRequests((client as unknown as { httpClient: object }).httpClient);
    for (const part of clientParts) this.#watchCalls(part, client[part as 'videos']);
    return client;
  }

  /** Makes one of the library's parts that its client does not show, watched. */
  hiddenPart<Part extends object>(file: string, options: { baseUri: string; apiKey: string }): Part {
    const HttpClient = require(`${library}/HttpClient.js`).default;
    const http = new HttpClient({ chunkSize: 50 * 1024 ** 2, ...options });
    this.#watchRequests(http);
    const part: Part = new (require(`${library}/api/${file}.js`).default)(http);
    this.#watchCalls(file, part);
    return part;
  }

  /** Lists what no call has done yet, of the methods of one part. */
  missing(name: string, part: object): string[] {
    return methodsOf(part).flatMap(method => {
      const facts = methodInfo(name, part, method);
      if (!this.#called.has(facts.name)) return [facts.name];
      const { request, parameters } = facts;
      const sent = new Set(
        this.#sent
          .filter(({ method, path }) => method === request?.method && request.path.test(path))
          .flatMap(entry => entry.parameters),
      );
      return parameters
        .filter(parameter => !sent.has(parameter))
        .map(parameter => `${facts.name} ${parameter}`);
    });
  }

  #watchCalls(name: string, part: object): void {
    for (const method of methodsOf(part)) {
      const original = (part as Callable)[method]!.bind(part);
      (part as Callable)[method] = (...args) => {
        this.#called.add(`${name}.${method}`);
        return original(...args);
      };
    }
  }

  #watchRequests(http: object): void {
    const original = (http as Callable).call!.bind(http);
    (http as Callable).call = (path, request) => {
      const { method, searchParams, body } = request as {
        method: string;
        searchParams?: URLSearchParams;
        body?: unknown;
      };
      const queried = [...(searchParams?.keys() ?? [])].map(key => `?${plainName(key)}`);
      const named =
        typeof body === 'string' ? Object.keys(JSON.parse(body)).map(attribute => `{${attribute}`) : [];
      this.#sent.push({ method, path: String(path), parameters: [...queried, ...named] });
      return original(path, request);
    };
  }
}

function methodsOf(part: object): string[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(part)).filter(name => name !== 'constructor');
}

/** Read off the text of the method that sends the request. */
function methodInfo(part: string, instance: object, method: string): MethodInfo {
  const prototype = Object.getPrototypeOf(instance) as Callable;
  const text = String(prototype[`${method}WithResponseHeaders`] ?? prototype[method]);
  const path = /const localVarPath = '\/([^']+)'/.exec(text)?.[1];
  const verb = /queryParams\.method = '([A-Z]+)'/.exec(text)?.[1];
  const queried = [...text.matchAll(/urlSearchParams\.append\(['`](\w+)/g)].flatMap(([, name = '']) =>
    name === 'filterBy' ? attributesOf('FilterBy2').map(key => `?filterBy.${key}`) : `?${name}`,
  );
  const model = /stringify\(\w+\.default\.serialize\(\w+, '(\w+)'/.exec(text)?.[1];
  const named = model === undefined ? [] : attributesOf(model).map(name => `{${name}`);
  return {
    name: `${part}.${method}`,
    parameters: [...new Set([...queried, ...named])],
    request:
      path === undefined || verb === undefined
        ? undefined
        : { method: verb, path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) },
  };
}

function attributesOf(model: string): string[] {
  const { getAttributeTypeMap } = require(`${library}/model/${model}.js`).default as {
    getAttributeTypeMap: () => readonly Attribute[];
  };
  return getAttributeTypeMap().map(({ baseName }) => baseName);
}

/** `tags[]` is `tags`; `filterBy[country][0]` is `filterBy.country`. */
function plainName(key: string): string {
  const [name = '', inner = ''] = key.split(/[[\]]+/);
  return name === 'filterBy' ? `${name}.${inner}` : name;
}
