/** Says what is wrong with the URL, or returns undefined. Never contains parts of the URL, which has a password. */
export function describeUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  const example = 'postgres://USER:PASSWORD@HOST:5432/DATABASE';
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    return `expected a URL such as ${example}, with a password that is percent-encoded (# is %23, / is %2F)`;
  }
  // A password that is not encoded would move the end of the host.
  if (url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) {
    return `percent-encode the special characters of the password (# is %23, / is %2F, ? is %3F, @ is %40), as in ${example}`;
  }
  if (!/^\/[^/]+$/.test(url.pathname)) return `the name of the database is missing, as in ${example}`;
  return undefined;
}

/** Removes the password, and options that may hold one, from a valid URL. */
export function withoutPassword(text: string): string {
  const url = URL.parse(text);
  if (url === null) return '';
  const folder = url.searchParams.get('host');
  url.password = '';
  url.search = '';
  url.hash = '';
  return folder === null ? url.href : `${url.href}?host=${folder}`;
}
