import { type AuditTarget, shortToken } from './audit-entry.ts';

const maxNameChars = 200;

/**
 * Tells which resource a request changed: the first one that its path names, or the one that it created. A token, which is a
 * secret, is shortened.
 */
export function changedResource(
  params: Readonly<Record<string, string>>,
  found: unknown,
  answer: unknown,
): AuditTarget | undefined {
  const named = Object.entries(params)[0] ?? createdId(answer);
  if (named === undefined) return undefined;
  const [name, value] = named;
  const kind = name.replace(/Id$/, '').replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  const isToken = /token$/i.test(name);
  return {
    kind: name === 'token' ? 'upload-token' : kind,
    id: isToken ? shortToken(value) : value,
    name: nameOf(answer) ?? nameOf(found),
  };
}

function createdId(answer: unknown): [string, string] | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const ids = Object.entries(answer).filter(([name]) => name === 'token' || name.endsWith('Id'));
  return ids.find((one): one is [string, string] => typeof one[1] === 'string');
}

function nameOf(resource: unknown): string | undefined {
  if (typeof resource !== 'object' || resource === null) return undefined;
  const { title, name, email } = resource as Readonly<Record<string, unknown>>;
  const text = [title, name, email].find(one => typeof one === 'string' && one !== '');
  return text === undefined ? undefined : String(text).slice(0, maxNameChars).toWellFormed();
}
