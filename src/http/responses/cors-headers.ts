/**
 * Headers of every response, so that pages of any origin can use the API with a key or a token. Cookies are for the server's own pages
 * only: credentials are never allowed here, nor is `Millrace-Environment` below.
 */
export const corsHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Allow, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Retry-After, X-Request-Id',
};

/** Headers of the response to a preflight request. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Content-Range, AV-Origin-Client, AV-Origin-App, AV-Origin-Sdk, X-Token-Session',
  'Access-Control-Max-Age': '86400',
};
